//! The delete files of a scan, each read once, resolved to the positions and keys that delete rows of a data file.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, RecordBatch};
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{EqualityKeys, PositionDeletes};
use icefloe_format::spec::{NestedField, PrimitiveType, Schema, Type};
use roaring::RoaringTreemap;

use super::applying::ApplyingFiles;
use super::batches::DeleteBatches;
use super::delete_file::DeleteFile;
use super::key_groups::{KeyGroup, key_groups, key_schema};
use super::load_once::LoadOnce;
use super::path_index::PathIndex;
use crate::bytes::data_file::TailFetch;
use crate::error::{Error, Result};
use crate::pipeline::{Flight, Pipeline, Work};
use crate::resolve::key_set::KeySet;
use crate::resolve::metadata_columns::{DELETE_FILE_PATH_ID, DELETE_FILE_POS_ID};
use crate::resolve::prune::values_at;
use crate::resolve::request::RowDeletes;
use crate::store::FileIo;
use crate::table::TableContext;

/// Bytes of decoded batches that may wait to be added to one set.
const WAITING_BYTES: usize = 8 << 20;

/// The delete files of a scan. A clone shares what is loaded by then and loads the rest itself.
#[derive(Clone)]
pub(crate) struct DeleteFiles {
    io: FileIo,
    context: Arc<TableContext>,
    files: Vec<DeleteFile>,
    /// Data files of the scan; positions in other files are dropped.
    data_files: HashSet<String>,
    positions: Vec<LoadOnce<Arc<PositionDeletes>>>,
    paths: PathIndex,
    groups: Vec<KeyGroup>,
    applying: ApplyingFiles,
    /// Limits of reading one set of positions or keys, of which several may be read at once.
    flight: Flight,
    /// Position delete files that are read at once for one data file.
    threads: usize,
}

impl DeleteFiles {
    /// The delete files of a plan; delete files of `ranges` apply to some of `data_files`.
    pub(crate) fn new<'a>(
        io: FileIo,
        context: Arc<TableContext>,
        files: Vec<DeleteFile>,
        (data_files, ranges): (HashSet<String>, impl Iterator<Item = &'a Range<usize>>),
        threads: usize,
    ) -> Self {
        let positions = files.iter().map(|_| LoadOnce::default()).collect();
        let (groups, members) = key_groups(&files, ranges);
        let applying = ApplyingFiles::new(&files, &members);
        let others = files.iter().enumerate().filter(|(_, file)| !file.holds_positions());
        let paths = PathIndex::new(others.map(|(index, _)| index));
        let ahead = files.first().and_then(|file| io.read_ahead_bytes(&file.location).ok());
        let flight = Flight {
            threads: threads.div_ceil(groups.len().max(1)),
            bytes: WAITING_BYTES,
            ahead: ahead.unwrap_or(0).min(WAITING_BYTES),
        };
        Self { io, context, files, data_files, positions, paths, groups, applying, flight, threads }
    }

    /// The file format of each delete file.
    pub(crate) fn formats(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.file_format.as_str())
    }

    /// A delete file by its index, and the storage that holds it.
    fn file(&self, index: usize) -> Option<(&FileIo, &DeleteFile)> {
        self.files.get(index).map(|file| (&self.io, file))
    }

    /// The deletes of a data file that `deletes` refer to; `rows` of the data file are unknown if negative.
    ///
    /// # Errors
    /// The errors of [`DeleteFiles::positions`] and [`DeleteFiles::key_sets`].
    pub(crate) fn resolve(
        self: &Arc<Self>,
        (location, rows): (&str, i64),
        deletes: &[Range<usize>],
    ) -> Result<RowDeletes> {
        let keys = self.key_sets(deletes)?;
        let positions = self.positions((location, rows), deletes)?.map(Arc::new);
        Ok(RowDeletes { positions, keys })
    }

    /// The positions of a data file that `deletes` delete; `rows` of the data file are unknown if negative.
    ///
    /// # Errors
    /// Errors of reading them; `Corrupt` where a position lies beyond the end of the data file.
    pub(crate) fn positions(
        self: &Arc<Self>,
        (location, rows): (&str, i64),
        deletes: &[Range<usize>],
    ) -> Result<Option<RoaringTreemap>> {
        self.load_positions(self.paths.missing(deletes))?;
        let mut all: Option<RoaringTreemap> = None;
        for index in self.paths.of_file(location, deletes) {
            let Some(file) = self.files.get(index) else { continue };
            let Some(loaded) = self.position_deletes(index, None) else { continue };
            if let Some(positions) = loaded?.positions(location) {
                within(positions, &file.location, (location, rows))?;
                match &mut all {
                    None => all = Some(positions.clone()),
                    Some(all) => *all |= positions,
                }
            }
        }
        Ok(all)
    }

    /// Load position delete files and add them to the index of paths.
    fn load_positions(self: &Arc<Self>, missing: Vec<usize>) -> Result<()> {
        let unread =
            missing.iter().filter(|index| self.positions.get(**index).is_some_and(LoadOnce::claim));
        self.load(Loads::Positions(unread.copied().collect()))?;
        for index in missing {
            if let Some(loaded) = self.position_deletes(index, None) {
                self.paths.add(index, loaded?.as_ref());
            }
        }
        Ok(())
    }

    /// Load several files or groups at once and request the bytes of the next at the same time. The reader that needs a
    /// value meets its error.
    fn load(self: &Arc<Self>, loads: Loads) -> Result<()> {
        if loads.len() > 1 {
            let flight = Flight { threads: self.threads, ..self.flight };
            Pipeline::new((Arc::clone(self), loads), flight)?.try_for_each(|nothing| nothing)?;
        }
        Ok(())
    }

    /// The positions in one delete file, read once.
    fn position_deletes(
        &self,
        index: usize,
        tail: Option<TailFetch>,
    ) -> Option<Result<Arc<PositionDeletes>>> {
        let read = || self.read_positions(index, tail).map(Arc::new);
        self.positions.get(index).map(|positions| positions.get(read))
    }

    /// The keys of one group, read once.
    fn group_keys(&self, group: usize) -> Option<Result<KeySet>> {
        self.groups.get(group).map(|group| group.keys.get(|| self.read_keys(group)))
    }

    /// The key sets of the equality deletes among `deletes`.
    ///
    /// # Errors
    /// Errors of reading them; `Unsupported` for a content that is neither positions nor keys.
    pub(crate) fn key_sets(self: &Arc<Self>, deletes: &[Range<usize>]) -> Result<Vec<KeySet>> {
        if let Some(file) = self.applying.other(deletes).and_then(|index| self.files.get(index)) {
            let feature = format!("delete files of content {}", file.content);
            return Err(Error::unsupported_in(&file.location, feature));
        }
        let applying = self.applying.groups(deletes, &self.groups);
        let unread = applying
            .keys()
            .filter(|group| self.groups.get(**group).is_some_and(|group| group.keys.claim()));
        self.load(Loads::Keys(unread.copied().collect()))?;
        let sets = applying.into_iter().filter_map(|(number, sources)| {
            let files = self.groups.get(number)?.files.len();
            let is_all = sources.iter().map(ExactSizeIterator::len).sum::<usize>() == files;
            let sources = (!is_all).then(|| Arc::from(sources));
            let set = self.group_keys(number)?;
            Some(set.map(|set| KeySet { sources, ..set }))
        });
        sets.collect()
    }

    fn read_positions(&self, index: usize, tail: Option<TailFetch>) -> Result<PositionDeletes> {
        let long = Type::Primitive(PrimitiveType::Long);
        let string = Type::Primitive(PrimitiveType::String);
        let schema = Arc::new(Schema::new(
            0,
            vec![
                NestedField::required(DELETE_FILE_PATH_ID, "file_path", string),
                NestedField::required(DELETE_FILE_POS_ID, "pos", long),
            ],
            vec![],
        ));
        let mut positions = PositionDeletes::default();
        self.read((&[index], tail), &schema, &mut |_, batch| {
            let inserted = positions.insert_resolved(&batch, |path| {
                let path = self.io.absolute(path);
                self.data_files.contains(&*path).then_some(path)
            });
            inserted.map_err(|error| self.failure(Some(&index), error))
        })?;
        Ok(positions)
    }

    fn read_keys(&self, group: &KeyGroup) -> Result<KeySet> {
        let field_ids = group.field_ids.clone();
        let files = group.files.iter().filter_map(|index| self.files.get(*index));
        let table = (&self.io, self.context.as_ref());
        let schema = Arc::new(key_schema(table, &field_ids, files.clone())?);
        let types: Vec<_> = field_ids.iter().filter_map(|id| schema.primitive_type(*id)).collect();
        let paths: Vec<_> = field_ids.iter().filter_map(|id| schema.position_path(*id)).collect();
        let mut keys = EqualityKeys::new(&types)?;
        let counts = files.map(|file| usize::try_from(file.record_count).unwrap_or(0));
        keys.expect(counts.fold(0, usize::saturating_add));
        self.read((&group.files, None), &schema, &mut |source, batch| {
            let columns: Vec<ArrayRef> =
                paths.iter().map(|path| values_at(&batch, path)).collect::<Result<_>>()?;
            // Plans number delete files in 32 bits.
            let inserted = keys.insert(&columns, source as u32);
            inserted.map_err(|error| self.failure(group.files.get(source), error))
        })?;
        KeySet::new(field_ids, schema, keys)
    }

    fn read(
        &self,
        (files, tail): (&[usize], Option<TailFetch>),
        schema: &Arc<Schema>,
        take: &mut dyn FnMut(usize, RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let batches = DeleteBatches {
            io: self.io.clone(),
            context: Arc::clone(&self.context),
            schema: Arc::clone(schema),
            files: files.iter().filter_map(|index| self.files.get(*index).cloned()).collect(),
            tail: Mutex::new(tail),
        };
        batches.each(self.flight, take)
    }

    /// An error in the content of a delete file.
    fn failure(&self, file: Option<&usize>, error: FormatError) -> Error {
        let file = file.and_then(|index| self.files.get(*index));
        Error::in_file(file.map_or("", |file| file.location.as_str()), error)
    }
}

/// Refuse positions beyond the end of the data file: the deletes belong to another file of the same name.
fn within(positions: &RoaringTreemap, deletes: &str, (location, rows): (&str, i64)) -> Result<()> {
    match (positions.max(), u64::try_from(rows)) {
        (Some(last), Ok(rows)) if last >= rows => {
            let reason = format!("position {last} is beyond the {rows} rows of {location}");
            Err(Error::corrupt_file(deletes, "position delete file", reason))
        }
        _ => Ok(()),
    }
}

/// Indexes of position delete files or of key groups, to load on several threads.
enum Loads {
    Positions(Vec<usize>),
    Keys(Vec<usize>),
}

impl Loads {
    /// The number of values to load.
    fn len(&self) -> usize {
        match self {
            Self::Positions(numbers) | Self::Keys(numbers) => numbers.len(),
        }
    }
}

impl Work for (Arc<DeleteFiles>, Loads) {
    type Unit = ();
    type Item = ();
    const NEEDED_WHOLE: bool = true;

    fn tasks(&self) -> usize {
        self.1.len()
    }

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        let Loads::Positions(files) = &self.1 else { return None };
        let (io, file) = self.0.file(*files.get(task)?)?;
        TailFetch::start(io, &file.location)
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<()>> {
        let (deletes, loads) = self;
        match loads {
            Loads::Positions(files) => {
                drop(files.get(task).and_then(|file| deletes.position_deletes(*file, tail)));
            }
            Loads::Keys(groups) => {
                drop(groups.get(task).and_then(|group| deletes.group_keys(*group)));
            }
        }
        Ok(vec![])
    }

    fn prefetch(&self, (): &(), _: usize) -> Option<usize> {
        Some(0)
    }

    fn decode(&self, (): (), _: &mut dyn FnMut(Self::Item) -> bool) -> Result<()> {
        Ok(())
    }

    fn bytes(_: &Self::Item) -> usize {
        0
    }
}

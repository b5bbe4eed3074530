//! Delete files, each read once per scan however many data files it applies to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::BooleanBuffer;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{EqualityKeys, PositionDeletes};
use icefloe_format::predicate::BoundPredicate;
use icefloe_format::spec::{NestedField, PrimitiveType, Schema, Type};
use roaring::RoaringTreemap;

use super::batches::DeleteBatches;
use super::loads::{Loaded, Loads};
use crate::bytes::data_file::Opening;
use crate::error::{Error, Result};
use crate::formats::parquet::row_groups::key_bounds;
use crate::pipeline::{Flight, Pipeline};
use crate::resolve::metadata_columns::{DELETE_FILE_PATH_ID, DELETE_FILE_POS_ID};
use crate::resolve::prune::{prune, values_at};
use crate::scan::task::{DeleteFile, ScanTask};
use crate::store::FileIo;
use crate::table::TableContext;

const POSITIONS: i32 = 1;
const EQUALITY: i32 = 2;
/// Bytes of decoded rows that may wait to be added to one set.
const WAITING_BYTES: usize = 8 << 20;

/// Keys of equality deletes and the fields that they are of.
#[derive(Clone)]
pub(crate) struct KeySet {
    pub(crate) field_ids: Vec<i32>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) keys: Arc<EqualityKeys>,
    /// Which sources of the keys apply; all if `None`.
    pub(crate) sources: Option<BooleanBuffer>,
    /// What a row satisfies that has one of the keys.
    pub(crate) bounds: BoundPredicate,
}

/// Equality delete files whose keys are kept in one set: those of one partition and the same fields. Each
/// file is read and hashed once, whichever of them apply to which data file.
#[derive(Clone)]
struct KeyGroup {
    field_ids: Vec<i32>,
    /// The files that some task needs; a file's place is its number among the sources of the keys.
    files: Vec<usize>,
    keys: Loaded<KeySet>,
}

/// The delete files of a scan. A clone has what is loaded by then and loads the rest itself.
#[derive(Clone)]
pub(crate) struct DeleteFiles {
    io: FileIo,
    context: Arc<TableContext>,
    files: Vec<DeleteFile>,
    /// Data files of the scan; positions of others are not kept.
    data_files: HashSet<String>,
    positions: Vec<Loaded<Arc<PositionDeletes>>>,
    groups: Vec<KeyGroup>,
    /// For each file its group and its place there.
    places: Vec<Option<(usize, usize)>>,
    /// How much work is in flight for one set, of which several may be read at once.
    flight: Flight,
    /// Files of positions that are read at once for one data file.
    threads: usize,
}

impl DeleteFiles {
    pub(crate) fn new(
        io: FileIo,
        context: Arc<TableContext>,
        files: Vec<DeleteFile>,
        (tasks, threads): (&[ScanTask], usize),
    ) -> Self {
        let data_files = tasks.iter().map(|task| task.location.clone()).collect();
        let positions = files.iter().map(|_| Loaded::default()).collect();
        let (groups, places) = key_groups(&files, tasks);
        let ahead = files.first().and_then(|file| io.read_ahead_bytes(&file.location).ok());
        let flight = Flight {
            threads: threads.div_ceil(groups.len().max(1)),
            bytes: WAITING_BYTES,
            ahead: ahead.unwrap_or(0).min(WAITING_BYTES),
        };
        Self { io, context, files, data_files, positions, groups, places, flight, threads }
    }

    /// The formats of all of them.
    pub(crate) fn formats(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.file_format.as_str())
    }

    /// A delete file by its number, and where it is read from.
    pub(crate) fn file(&self, index: usize) -> Option<(&FileIo, &DeleteFile)> {
        self.files.get(index).map(|file| (&self.io, file))
    }

    /// Positions of a data file of so many rows, negative if nobody knows, that some of these delete files delete.
    ///
    /// # Errors
    /// Those of reading them; `Corrupt` where a position lies beyond the end of the data file.
    pub(crate) fn positions(
        self: &Arc<Self>,
        (location, rows): (&str, i64),
        deletes: &[Range<usize>],
    ) -> Result<Option<RoaringTreemap>> {
        let of_positions =
            |index: &usize| self.files.get(*index).is_some_and(|file| file.content == POSITIONS);
        let wanted: Vec<usize> = deletes.iter().cloned().flatten().filter(of_positions).collect();
        let unread =
            wanted.iter().filter(|index| self.positions.get(**index).is_some_and(Loaded::claim));
        self.load(Loads::Positions(unread.copied().collect()))?;
        let mut all: Option<RoaringTreemap> = None;
        for index in wanted {
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

    /// Read what nobody has begun to read, several files or groups at once, and send for the next meanwhile. What
    /// fails is found where it is needed.
    fn load(self: &Arc<Self>, loads: Loads) -> Result<()> {
        if loads.len() > 1 {
            let flight = Flight { threads: self.threads, ..self.flight };
            Pipeline::new((Arc::clone(self), loads), flight)?.try_for_each(|nothing| nothing)?;
        }
        Ok(())
    }

    /// The positions of one delete file, read now if nobody has read them.
    pub(crate) fn position_deletes(
        &self,
        index: usize,
        opening: Option<Opening>,
    ) -> Option<Result<Arc<PositionDeletes>>> {
        let read = || self.read_positions(index, opening).map(Arc::new);
        self.positions.get(index).map(|positions| positions.get(read))
    }

    /// The keys of one group, read now if nobody has read them.
    pub(crate) fn group_keys(&self, group: usize) -> Option<Result<KeySet>> {
        self.groups.get(group).map(|group| group.keys.get(|| self.read_keys(group)))
    }

    /// The key sets of the equality deletes among these delete files.
    ///
    /// # Errors
    /// Those of reading them; `Unsupported` for a content that is neither positions nor keys.
    pub(crate) fn key_sets(self: &Arc<Self>, deletes: &[Range<usize>]) -> Result<Vec<KeySet>> {
        let mut applying: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in deletes.iter().cloned().flatten() {
            let Some(file) = self.files.get(index) else { continue };
            if !matches!(file.content, POSITIONS | EQUALITY) {
                let feature = format!("a delete file of content {}", file.content);
                return Err(Error::unsupported_in(&file.location, feature));
            }
            if let Some((group, place)) = self.places.get(index).copied().flatten() {
                applying.entry(group).or_default().push(place);
            }
        }
        let unread = applying
            .keys()
            .filter(|group| self.groups.get(**group).is_some_and(|group| group.keys.claim()));
        self.load(Loads::Keys(unread.copied().collect()))?;
        let sets = applying.into_iter().filter_map(|(number, sources)| {
            let files = self.groups.get(number)?.files.len();
            let set = self.group_keys(number)?;
            Some(set.map(|set| KeySet { sources: bits(&sources, files), ..set }))
        });
        sets.collect()
    }

    fn read_positions(&self, index: usize, opening: Option<Opening>) -> Result<PositionDeletes> {
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
        self.read((&[index], opening), &schema, &mut |_, batch| {
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
        let schema = Arc::new(self.key_schema(&field_ids)?);
        let types: Vec<_> = field_ids.iter().filter_map(|id| schema.primitive_type(*id)).collect();
        let paths: Vec<_> = field_ids.iter().filter_map(|id| schema.position_path(*id)).collect();
        let mut keys = EqualityKeys::new(&types)?;
        self.read((&group.files, None), &schema, &mut |source, batch| {
            let columns: Vec<ArrayRef> =
                paths.iter().map(|path| values_at(&batch, path)).collect::<Result<_>>()?;
            // Files are numbered in 32 bits by the plan's runs of rows.
            let inserted = keys.insert(&columns, source as u32);
            inserted.map_err(|error| self.failure(group.files.get(source), error))
        })?;
        let bounds = key_bounds(&field_ids, &schema, &keys.ranges())?;
        Ok(KeySet { field_ids, schema, keys: Arc::new(keys), sources: None, bounds })
    }

    /// The key fields as a schema of their own. A dropped column still decides what is deleted, so every
    /// schema is asked.
    fn key_schema(&self, field_ids: &[i32]) -> Result<Schema> {
        let mut fields: Vec<NestedField> = Vec::new();
        for id in field_ids {
            let schema = self.context.schema_with_field(*id);
            let found = schema.filter(|schema| {
                schema.primitive_type(*id).is_some() && schema.position_path(*id).is_some()
            });
            let Some(schema) = found else {
                let reason = format!("no column that could be compared has field id {id}");
                return Err(FormatError::invalid("equality_ids", reason).into());
            };
            for field in prune(schema, &[*id]).fields().iter().cloned() {
                merge(&mut fields, field);
            }
        }
        Ok(Schema::new(0, fields, vec![]))
    }

    fn read(
        &self,
        (files, opening): (&[usize], Option<Opening>),
        schema: &Arc<Schema>,
        take: &mut dyn FnMut(usize, RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let batches = DeleteBatches {
            io: self.io.clone(),
            context: Arc::clone(&self.context),
            schema: Arc::clone(schema),
            files: files.iter().filter_map(|index| self.files.get(*index).cloned()).collect(),
            opening: Mutex::new(opening),
        };
        batches.each(self.flight, take)
    }

    /// An error of what a delete file holds.
    fn failure(&self, file: Option<&usize>, error: FormatError) -> Error {
        let file = file.and_then(|index| self.files.get(*index));
        Error::in_file(file.map_or("", |file| file.location.as_str()), error)
    }
}

/// Refuse positions that the data file does not have: the deletes are then of another file than the one that is there.
fn within(positions: &RoaringTreemap, deletes: &str, (location, rows): (&str, i64)) -> Result<()> {
    match (positions.max(), u64::try_from(rows)) {
        (Some(last), Ok(rows)) if last >= rows => {
            let reason = format!("it deletes row {last} of {location}, which has {rows} rows");
            Err(Error::corrupt_file(deletes, "position delete file", reason))
        }
        _ => Ok(()),
    }
}

/// Group the equality delete files that tasks need, and say where each is.
fn key_groups(
    files: &[DeleteFile],
    tasks: &[ScanTask],
) -> (Vec<KeyGroup>, Vec<Option<(usize, usize)>>) {
    let mut needed = vec![false; files.len()];
    for run in tasks.iter().flat_map(ScanTask::delete_files) {
        needed.get_mut(run.clone()).unwrap_or_default().fill(true);
    }
    let mut known = HashMap::new();
    let mut groups: Vec<KeyGroup> = Vec::new();
    let places = files.iter().zip(needed).enumerate().map(|(index, (file, needed))| {
        if file.content != EQUALITY || !needed {
            return None;
        }
        let mut field_ids = file.equality_ids.clone();
        field_ids.sort_unstable();
        field_ids.dedup();
        let at = *known.entry((field_ids.clone(), &file.scope)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(KeyGroup { field_ids, files: vec![], keys: Loaded::default() });
        }
        let group = groups.get_mut(at)?;
        group.files.push(index);
        Some((at, group.files.len() - 1))
    });
    let places = places.collect();
    (groups, places)
}

/// These of so many sources as bits; `None` for all of them.
fn bits(sources: &[usize], count: usize) -> Option<BooleanBuffer> {
    let mut wanted = vec![false; count];
    for source in sources {
        if let Some(wanted) = wanted.get_mut(*source) {
            *wanted = true;
        }
    }
    wanted.contains(&false).then(|| BooleanBuffer::from(wanted))
}

/// Add a field to a level, or what is below it to the field that is there.
fn merge(fields: &mut Vec<NestedField>, field: NestedField) {
    let Some(known) = fields.iter_mut().find(|known| known.id == field.id) else {
        fields.push(field);
        return;
    };
    if let (Type::Struct(known), Type::Struct(new)) = (&mut known.field_type, field.field_type) {
        for field in new.fields {
            merge(&mut known.fields, field);
        }
    }
}

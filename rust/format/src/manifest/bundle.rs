//! Small manifests of one spec, decoded into shared columns.
//!
//! Parsing the schema and building arrays costs more than decoding the few entries of a small manifest. Manifests with
//! equal schema texts share these costs; inheritance and filters apply to their entries together.

use std::ops::Range;

use arrow_array::BooleanArray;
use arrow_buffer::BooleanBuffer;

use super::decode::{DecodeOptions, assemble, read_blocks, selection};
use super::entries::ManifestColumns;
use super::fields::read_entry;
use super::inherit::{Inheritance, inherit_each};
use super::matching::{EntryFilter, MatchingEntries, by_statistics};
use crate::avro::{Header, Selection, StructColumn};
use crate::codec::{Codec, Decompressor};
use crate::predicate::{PartitionTuples, Predicate, evaluate_inclusive};
use crate::spec::types::StructType;
use crate::{Error, Result};

/// The live entries of several manifests that might match a filter, ordered by manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryBundle {
    /// The entries, with inheritance applied.
    pub columns: ManifestColumns,
    /// The manifests, in the order of their entries.
    pub members: Vec<Member>,
}

/// A manifest of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Number of manifests that were read before this one.
    pub place: usize,
    /// The rows of its entries in the bundle.
    pub rows: Range<usize>,
    /// Number of live entries of the manifest.
    pub live: usize,
    /// Number of live entries that are pruned by partition.
    pub skipped_by_partition: usize,
    /// Number of other live entries that are pruned by statistics.
    pub skipped_by_metrics: usize,
}

impl EntryBundle {
    /// Create the bundle of one manifest.
    pub fn of_one(matching: MatchingEntries) -> Self {
        let member = Member {
            place: 0,
            rows: 0..matching.columns.len(),
            live: matching.live,
            skipped_by_partition: matching.skipped_by_partition,
            skipped_by_metrics: matching.skipped_by_metrics,
        };
        Self { columns: matching.columns, members: vec![member] }
    }

    /// Return the entries for which `mask`, without nulls, is true.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the mask has another length.
    pub fn filter(self, mask: &BooleanArray) -> Result<Self> {
        Ok(Self {
            columns: self.columns.filter(mask)?,
            members: filtered_members(&self.members, mask.values()),
        })
    }
}

/// Return the members of a bundle after a filter on its entries.
pub fn filtered_members(members: &[Member], kept: &BooleanBuffer) -> Vec<Member> {
    let mut end = 0;
    let members = members.iter().map(|member| {
        let start = end;
        end += count(kept, &member.rows);
        Member { rows: start..end, ..member.clone() }
    });
    members.collect()
}

fn count(mask: &BooleanBuffer, rows: &Range<usize>) -> usize {
    mask.slice(rows.start, rows.len()).count_set_bits()
}

/// Reads manifests into one set of columns per distinct schema.
pub struct BundleDecoder<'a> {
    options: DecodeOptions<'a>,
    wanted: StructType,
    selection: Selection,
    writers: Vec<Writer>,
    decompressor: Option<(Codec, Decompressor)>,
    manifests: usize,
}

/// The manifests of one schema.
struct Writer {
    schema: String,
    columns: StructColumn,
    members: Vec<Member>,
    inherited: Vec<Inheritance>,
}

impl<'a> BundleDecoder<'a> {
    /// Prepare to read manifests. Statistics that `options` skips do not prune entries.
    pub fn new(options: DecodeOptions<'a>) -> Self {
        Self {
            wanted: read_entry(options.partition_type),
            selection: selection(&options.stats),
            options,
            writers: Vec::new(),
            decompressor: None,
            manifests: 0,
        }
    }

    /// Read all entries of a manifest. After an error the decoder is unusable.
    ///
    /// # Errors
    /// As for [`ManifestDecoder`](super::ManifestDecoder).
    pub fn read(&mut self, bytes: &[u8], from: Inheritance) -> Result<()> {
        let header = Header::parse(bytes)?;
        let decompressor = match self.decompressor.take() {
            Some((codec, known)) if codec == header.codec() => known,
            _ => Decompressor::new(header.codec()),
        };
        let mut blocks = header.blocks_by(decompressor);
        let place = self.manifests;
        self.manifests += 1;
        let writer = self.writer(&header)?;
        let first = writer.columns.rows();
        read_blocks(&mut blocks, &mut writer.columns, usize::MAX)?;
        let rows = first..writer.columns.rows();
        let (live, skipped_by_partition, skipped_by_metrics) = (0, 0, 0);
        let member = Member { place, rows, live, skipped_by_partition, skipped_by_metrics };
        writer.members.push(member);
        writer.inherited.push(from);
        self.decompressor = Some((header.codec(), blocks.into_decompressor()));
        Ok(())
    }

    fn writer(&mut self, header: &Header<'_>) -> Result<&mut Writer> {
        let schema = header.schema_json()?;
        let known = self.writers.iter().position(|writer| writer.schema == schema);
        let place = match known {
            Some(place) => place,
            None => {
                let columns =
                    StructColumn::compile(&self.wanted, Some(&header.schema()?), &self.selection)
                        .map_err(|error| error.or_at(header.schema_offset()))?;
                let (schema, members, inherited) = (schema.to_owned(), vec![], vec![]);
                self.writers.push(Writer { schema, columns, members, inherited });
                self.writers.len() - 1
            }
        };
        self.writers
            .get_mut(place)
            .ok_or_else(|| Error::corrupt("manifest", "the schema is unknown"))
    }

    /// Return the live entries that might match, one bundle per schema.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if an entry of any manifest is invalid, without the manifest's name; errors of evaluating
    /// the filter.
    pub fn finish(self, filter: EntryFilter<'_>) -> Result<Vec<EntryBundle>> {
        let options = self.options;
        self.writers.into_iter().map(|writer| writer.finish(&options, filter)).collect()
    }
}

impl Writer {
    fn finish(
        mut self,
        options: &DecodeOptions<'_>,
        filter: EntryFilter<'_>,
    ) -> Result<EntryBundle> {
        let columns = assemble(&self.columns.finish()?, options.spec_id)?;
        let mut members = self.members;
        let mut kept = columns.live()?.values().clone();
        for member in &mut members {
            member.live = count(&kept, &member.rows);
        }
        if !matches!(filter.partitions, Predicate::AlwaysTrue) {
            let tuples = PartitionTuples::new(columns.partition.clone(), options.partition_type);
            kept = &kept & evaluate_inclusive(filter.partitions, &tuples)?.values();
            for member in &mut members {
                member.skipped_by_partition = member.live - count(&kept, &member.rows);
            }
        }
        if !matches!(filter.rows, Predicate::AlwaysTrue) {
            let in_partition = kept;
            kept = &in_partition & by_statistics(filter.rows, &columns.entries)?.values();
            for member in &mut members {
                member.skipped_by_metrics =
                    count(&in_partition, &member.rows) - count(&kept, &member.rows);
            }
        }
        let bundle = EntryBundle { columns, members };
        let bundle = if kept.count_set_bits() == kept.len() {
            bundle
        } else {
            bundle.filter(&BooleanArray::new(kept, None))?
        };
        let rows = bundle.members.iter().map(|member| member.rows.len());
        let inherited: Vec<_> = rows.zip(self.inherited).collect();
        let columns = inherit_each(bundle.columns, &inherited)?;
        Ok(EntryBundle { columns, ..bundle })
    }
}

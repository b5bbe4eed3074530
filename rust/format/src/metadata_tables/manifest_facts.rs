//! Facts that a manifest list states about all entries of a manifest: their content and their partition spec.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use arrow_buffer::BooleanBuffer;

use crate::Result;
use crate::manifest::{ManifestContent, ManifestFile};
use crate::predicate::{BoundLeaf, ColumnFacts, ColumnStats};
use crate::spec::PrimitiveType;

/// Field ids of `content` and `spec_id` in the metadata tables about files.
const CONTENT: i32 = 134;
const SPEC_ID: i32 = 141;

/// The content and the partition spec of the entries of manifests. Nothing is known of other columns.
///
/// Entries of a data manifest have content 0, those of a delete manifest 1 or 2.
#[derive(Debug, Clone, Copy)]
pub struct ManifestFacts<'a> {
    manifests: &'a [ManifestFile],
}

impl<'a> ManifestFacts<'a> {
    /// Create the facts of the rows of a manifest list.
    pub fn new(manifests: &'a [ManifestFile]) -> Self {
        Self { manifests }
    }

    /// Return the least and the greatest value of a field in the entries of each manifest.
    fn bounds(&self, field_id: i32) -> Option<(ArrayRef, ArrayRef)> {
        let bounds = |of: fn(&ManifestFile) -> (i32, i32)| -> (ArrayRef, ArrayRef) {
            let (lower, upper): (Vec<i32>, Vec<i32>) = self.manifests.iter().map(of).unzip();
            (Arc::new(Int32Array::from(lower)), Arc::new(Int32Array::from(upper)))
        };
        match field_id {
            CONTENT => Some(bounds(|manifest| match manifest.content {
                ManifestContent::Data => (0, 0),
                ManifestContent::Deletes => (1, 2),
            })),
            SPEC_ID => Some(bounds(|manifest| (manifest.spec_id, manifest.spec_id))),
            _ => None,
        }
    }
}

impl ColumnStats for ManifestFacts<'_> {
    fn entries(&self) -> usize {
        self.manifests.len()
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        let mut facts = ColumnFacts::unknown(&leaf.field_type, self.manifests.len());
        if leaf.field_type != PrimitiveType::Int {
            return Ok(facts);
        }
        let Some((lower, upper)) = self.bounds(leaf.field_id) else { return Ok(facts) };
        facts.may_be_null = BooleanBuffer::new_unset(self.manifests.len());
        facts.with_bounds(&leaf.field_type, Some(lower), Some(upper))
    }
}

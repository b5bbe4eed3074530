//! What pairing delete files needs of the table that they belong to.

use crate::spec::PrimitiveType;

/// What the index must know of the table.
pub trait TableFacts {
    /// Whether a spec has no fields or only void ones: its equality deletes are global.
    fn is_unpartitioned(&self, spec_id: i32) -> bool;

    /// The type of a field in any of the table's schemas, and whether it lies inside a struct.
    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)>;
}

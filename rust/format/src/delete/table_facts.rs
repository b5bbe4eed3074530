//! The facts about a table that pairing of delete files requires.

use crate::spec::PrimitiveType;

/// The facts about a table that the index requires.
pub trait TableFacts {
    /// Whether a spec has no fields or only void ones: its equality deletes are global.
    fn is_unpartitioned(&self, spec_id: i32) -> bool;

    /// Return the type of a field in any of the table's schemas, and whether the field is inside a struct.
    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)>;
}

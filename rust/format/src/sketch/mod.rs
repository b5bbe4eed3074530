//! Sketches of sets of values, as the blobs of Puffin files hold them.

mod column;
mod hash;
mod theta;
mod values;

pub use column::ColumnSketch;
pub use hash::value_hash;
pub use theta::ThetaSketch;
pub use values::add_values;

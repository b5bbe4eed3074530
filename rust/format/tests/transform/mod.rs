//! Tests of the transforms.

mod hash;
mod kernel;
mod layouts;
mod names;
mod values;

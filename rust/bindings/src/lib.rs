//! The extension module `icefloe._core`. Its functions convert arguments, release the GIL, call the engine and convert
//! the result.

use pyo3::prelude::*;

#[cfg(not(target_env = "msvc"))]
mod allocator;
mod arrow;
mod changelog;
mod error;
mod exported;
mod io;
mod join;
mod manifest;
mod metadata_tables;
mod orc;
mod orc_writing;
mod predicate;
mod reachability;
mod scan;
mod sort;
mod statistics;
mod transform;
mod views;
mod write;

/// Return the build profile of this module: `release`, `fast` or `debug`.
#[pyfunction]
fn build_profile() -> &'static str {
    env!("ICEFLOE_BUILD_PROFILE")
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(build_profile, module)?)?;
    #[cfg(not(target_env = "msvc"))]
    allocator::register();
    changelog::register(module)?;
    io::register(module)?;
    join::register(module)?;
    manifest::register(module)?;
    metadata_tables::register(module)?;
    orc::register();
    orc_writing::register();
    predicate::register(module)?;
    reachability::register(module)?;
    scan::register(module)?;
    sort::register(module)?;
    statistics::register(module)?;
    transform::register(module)?;
    write::register(module)
}

//! The allocator of this extension, and the thread that returns freed memory to the operating system.

use icefloe_engine::runtime::on_start;
use tikv_jemalloc_ctl::background_thread;
use tikv_jemallocator::Jemalloc;

// Half of a scan's time is the system allocator returning pages; see the decision log.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Start the background thread of jemalloc with the threads of each process.
///
/// Without it, freed pages are purged only by later calls of the allocator, which an idle process does not make.
pub(crate) fn register() {
    on_start(start_background_thread);
}

/// Start the background thread in this process. A forked child has none, and its jemalloc has it disabled.
fn start_background_thread() {
    if background_thread::write(true).is_err() {
        // Where no thread can be started, the option stays set, and no thread at all would purge.
        let _ = background_thread::write(false);
    }
}

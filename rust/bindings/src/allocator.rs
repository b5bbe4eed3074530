//! The allocator of this extension, and the thread that returns freed memory to the operating system.

use icefloe_engine::runtime::on_start;
use tikv_jemalloc_ctl::background_thread;
use tikv_jemallocator::Jemalloc;

// With the system allocator, half of a scan's time is spent in page faults: see "Memory and threads" in
// docs/decisions.md.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Register the start of jemalloc's background thread with the runtime of each process.
///
/// Without the background thread, freed pages are purged only by later calls of the allocator, which an idle process
/// does not make.
pub(crate) fn register() {
    on_start(start_background_thread);
}

/// Start the background thread in this process. A forked child inherits no thread and has the option disabled.
fn start_background_thread() {
    if background_thread::write(true).is_err() {
        // A failed start leaves the option enabled, and then neither a background thread nor the calling threads purge
        // pages.
        let _ = background_thread::write(false);
    }
}

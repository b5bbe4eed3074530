//! The allocator of this extension, and the thread that returns freed memory to the operating system.

use std::sync::atomic::{AtomicUsize, Ordering};

use icefloe_engine::runtime::on_start;
use tikv_jemalloc_ctl::{Access, AsName, Result, background_thread};
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

/// The time within which freed memory returns to the operating system while a [`QuickReturn`] exists.
const QUICK_RETURN_MS: isize = 100;
/// The number of [`QuickReturn`] values in this process.
static QUICK_RETURNS: AtomicUsize = AtomicUsize::new(0);

/// Has freed memory return to the operating system within 100 ms instead of ten seconds while a value exists: a sort frees
/// as many bytes as the table has, in arrays of many sizes, of which later arrays reuse a part only.
pub(crate) struct QuickReturn(());

impl QuickReturn {
    pub(crate) fn start() -> Self {
        if QUICK_RETURNS.fetch_add(1, Ordering::AcqRel) == 0 {
            // Without the setting, memory returns later.
            let _ = return_within(|configured| QUICK_RETURN_MS.min(configured));
        }
        Self(())
    }
}

impl Drop for QuickReturn {
    fn drop(&mut self) {
        if QUICK_RETURNS.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _ = return_within(|configured| configured);
        }
    }
}

/// Set the time of all arenas to a function of the configured time, in milliseconds; -1 stands for never.
fn return_within(time: impl Fn(isize) -> isize) -> Result<()> {
    let configured: isize = b"opt.dirty_decay_ms\0".name().read()?;
    let arenas: u32 = b"arenas.narenas\0".name().read()?;
    for arena in 0..arenas {
        // An arena that no thread uses yet has no such setting.
        let _ = format!("arena.{arena}.dirty_decay_ms\0").name().write(time(configured));
    }
    Ok(())
}

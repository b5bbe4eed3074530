//! From a manifest list to scan tasks.
//!
//! Manifests are pruned by their partition summaries. The remaining ones are fetched and decoded concurrently, with
//! only the statistics that the filter needs. Entries are pruned by partition, then by statistics, and paired with
//! delete files. Spec: Scan Planning.

mod bundle;
mod cache;
mod cached_parts;
mod changes;
mod columns;
mod counters;
mod deletes;
mod early_bytes;
mod entries;
mod filter;
mod manifests;
mod packing;
mod reader;
mod request;
mod residuals;
mod served;
mod splits;
mod tasks;

use std::sync::Arc;

use icefloe_format::manifest::Stats;

pub use cache::clear_cache;
pub use changes::{PlanChanges, changes};
pub use counters::PlanCounters;
pub use deletes::own_deletes;
pub(crate) use filter::ScanFilter;
pub use packing::{Packing, pack};
pub use request::PlanRequest;
pub(crate) use residuals::{Residuals, residuals_type};
pub use served::served;
pub use tasks::ScanPlan;

use crate::error::Result;
use crate::runtime::block_on;
use crate::store::FileIo;
use crate::table::TableContext;

use cache::PlanCache;
use deletes::PlannedDeletes;
use entries::PlannedEntries;
use manifests::Manifests;
use reader::ManifestReader;

/// Plan the scan of one snapshot, blocking.
///
/// # Errors
/// `UnknownColumn` for a filter on no column of the table; `Corrupt`, [`crate::Error::Missing`] and
/// [`crate::Error::Storage`] naming a manifest or the list.
pub fn plan(io: &FileIo, context: Arc<TableContext>, request: &PlanRequest) -> Result<ScanPlan> {
    let filter = Arc::new(ScanFilter::new(&request.filter, &context)?);
    let mut counters = PlanCounters::default();
    let manifests = block_on(Manifests::load(io, request))?;
    let (data, deletes) = manifests.prune((&filter, request.added_by), &context, &mut counters)?;
    let inputs = (request.filter.as_str(), request.added_by);
    let reader = ManifestReader {
        cache: PlanCache::new(io, &context.source, inputs)?,
        io: io.clone(),
        context: Arc::clone(&context),
        filter,
        added_by: request.added_by,
    };
    let deletes =
        if request.include_deletes && request.added_by.is_none() { deletes } else { vec![] };
    // The statistics to decode depend on the deletes; the bytes to fetch do not.
    let (deletes, early) = block_on(reader.read_deletes(deletes, &data))?;
    let deletes = PlannedDeletes::new(deletes, context, &mut counters)?;
    let stats = match request.include_stats {
        true => Stats::All,
        false => reader.filter.statistics(deletes.equality_ids()),
    };
    let data: PlannedEntries = block_on(reader.read(data, stats, &early))?;
    tasks::assemble(data, &deletes, request, counters)
}

//! The request for a plan.

/// The snapshot, filter and options of a plan.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// Location of the snapshot's manifest list.
    pub manifest_list: Option<String>,
    /// Locations of manifests, where a snapshot of version 1 lists them inline.
    pub manifests: Vec<String>,
    /// Predicate JSON.
    pub filter: String,
    /// Target bytes per task; `None` for whole files.
    pub split_size: Option<u64>,
    /// Whether the files have their statistics columns.
    pub include_stats: bool,
    /// Whether delete files are paired with data files.
    pub include_deletes: bool,
    /// If given, return only data files that this snapshot added.
    pub added_by: Option<i64>,
}

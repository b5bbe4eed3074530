//! What is asked of the planner.

/// What to plan.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// Location of the snapshot's manifest list.
    pub manifest_list: Option<String>,
    /// Locations of manifests, where a snapshot of version 1 lists them inline.
    pub manifests: Vec<String>,
    /// Predicate JSON.
    pub filter: String,
    /// Wanted bytes per task; `None` leaves files whole.
    pub split_size: Option<u64>,
    /// Whether the files have their statistics columns.
    pub include_stats: bool,
    /// Whether delete files are paired with data files.
    pub include_deletes: bool,
    /// If given, only data files that this snapshot added are wanted.
    pub added_by: Option<i64>,
}

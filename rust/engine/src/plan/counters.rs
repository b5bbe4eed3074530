//! Counts of planned and skipped manifests and files.

/// Counts of one plan. Files are live entries of manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounters {
    /// Manifests of data files.
    pub data_manifests_total: u64,
    /// Of those, skipped without reading.
    pub data_manifests_skipped: u64,
    /// Manifests of delete files.
    pub delete_manifests_total: u64,
    /// Of those, skipped without reading.
    pub delete_manifests_skipped: u64,
    /// Data files of the snapshot; skipped manifests without counts are left out.
    pub data_files_total: u64,
    /// Data files that their partition rules out, including data files of skipped manifests.
    pub files_skipped_by_partition: u64,
    /// Data files that their statistics rule out.
    pub files_skipped_by_metrics: u64,
    /// Data files to read.
    pub files_planned: u64,
    /// Delete files of the manifests that were read.
    pub delete_files_total: u64,
    /// Delete files that some planned data file needs.
    pub delete_files_planned: u64,
    /// Bytes of the data files to read.
    pub bytes_planned: u64,
    /// Rows of the data files to read.
    pub records_planned: u64,
}

impl PlanCounters {
    /// Return the counts by name.
    pub fn named(&self) -> [(&'static str, u64); 12] {
        [
            ("data_manifests_total", self.data_manifests_total),
            ("data_manifests_skipped", self.data_manifests_skipped),
            ("delete_manifests_total", self.delete_manifests_total),
            ("delete_manifests_skipped", self.delete_manifests_skipped),
            ("data_files_total", self.data_files_total),
            ("files_skipped_by_partition", self.files_skipped_by_partition),
            ("files_skipped_by_metrics", self.files_skipped_by_metrics),
            ("files_planned", self.files_planned),
            ("delete_files_total", self.delete_files_total),
            ("delete_files_planned", self.delete_files_planned),
            ("bytes_planned", self.bytes_planned),
            ("records_planned", self.records_planned),
        ]
    }
}

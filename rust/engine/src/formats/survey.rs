//! A report of the parts of a file that a scan would read, made from its footer.

/// The parts of a file that a scan reads, `None` where the format does not report it. Avro files report nothing; ORC files report
/// stripes as row groups, no pages, and the bytes of all columns.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Row groups of the part to read.
    pub(crate) row_groups: Option<u64>,
    pub(crate) row_groups_kept: Option<u64>,
    /// Pages of the columns to read, in the selected row groups.
    pub(crate) pages: Option<u64>,
    pub(crate) pages_kept: Option<u64>,
    pub(crate) rows: Option<u64>,
    /// Rows to decode, before deletes and the row filter apply.
    pub(crate) rows_selected: Option<u64>,
    pub(crate) bytes_to_read: Option<u64>,
    /// The reasons to skip the other parts, joined by commas; `None` if all parts are read.
    pub(crate) reason: Option<String>,
}

/// Return the reasons that ruled something out, joined by commas.
pub(crate) fn reasons<const N: usize>(all: [(&str, bool); N]) -> Option<String> {
    let found = all.into_iter().filter(|(_, did)| *did).map(|(reason, _)| reason);
    let found: Vec<&str> = found.collect();
    (!found.is_empty()).then(|| found.join(", "))
}

//! Selection of the rows of a unit that are decoded.

use std::ops::Range;

use icefloe_format::delete::{RowRun, row_runs};
use parquet::arrow::arrow_reader::{RowSelection, RowSelectionPolicy, RowSelector};
use roaring::RoaringTreemap;

use super::unit::{SHORT_RUN_ROWS, Unit};

impl Unit {
    /// Return the rows to decode and the policy that skips the others (`None` for the whole row group), and the deleted
    /// positions to remove after decoding.
    pub(super) fn selection(
        &self,
    ) -> (Option<(RowSelection, RowSelectionPolicy)>, Option<&RoaringTreemap>) {
        let count = self.rows.end - self.rows.start;
        let runs = self.runs();
        let short = count / (runs.len() as u64).max(1) < SHORT_RUN_ROWS;
        // After a row filter the positions of the remaining rows are unknown, so positions are removed after decoding
        // only without one.
        let after = short && self.file.tests.is_empty();
        let positions = self.file.deleted.as_deref().filter(|_| after);
        let selected = if positions.is_some() {
            vec![RowSelector { skip: false, ..skip(count) }]
        } else {
            let selector = |run: &RowRun| RowSelector { skip: run.deleted, ..skip(run.row_count) };
            runs.iter().map(selector).collect()
        };
        let total = self.group_rows();
        if selected.len() == 1 && count == total && !selected.iter().any(|rows| rows.skip) {
            return (None, positions);
        }
        // A mask also decodes the rows that it drops, which costs more than selectors if most rows are on skipped
        // pages.
        let mask = short && selected.len() > 1 && self.kept.count() > count / 2;
        // The decoder's automatic policy would include the rows of other parts in its average run length.
        let policy = match mask {
            true => RowSelectionPolicy::Mask,
            false => RowSelectionPolicy::Selectors,
        };
        let mut selectors = vec![skip(self.rows.start)];
        selectors.extend(selected);
        selectors.push(skip(total - self.rows.end));
        (Some((RowSelection::from(selectors), policy)), positions)
    }

    /// Return the rows to decode as runs within the row group.
    pub(super) fn flat_runs(&self) -> Vec<Range<u64>> {
        let mut next = self.rows.start;
        let runs = self.runs().into_iter().map(|run| {
            let start = next;
            next += run.row_count;
            (run.deleted, start..next)
        });
        runs.filter(|(deleted, _)| !deleted).map(|(_, rows)| rows).collect()
    }

    /// Return the rows of the unit's range as runs of selected rows and of rows that are deleted or on skipped pages.
    fn runs(&self) -> Vec<RowRun> {
        let mut runs = Vec::new();
        let mut next = self.rows.start;
        for rows in &self.kept.rows {
            if rows.start > next {
                runs.push(RowRun { deleted: true, row_count: rows.start - next });
            }
            next = rows.end;
            let (start, row_count) = (self.first_row + rows.start, rows.end - rows.start);
            match &self.file.deleted {
                Some(deleted) => runs.extend(row_runs(deleted, start, row_count)),
                None => runs.push(RowRun { deleted: false, row_count }),
            }
        }
        runs
    }
}

fn skip(rows: u64) -> RowSelector {
    RowSelector { row_count: usize::try_from(rows).unwrap_or(usize::MAX), skip: true }
}

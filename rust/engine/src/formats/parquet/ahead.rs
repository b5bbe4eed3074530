//! Byte ranges of the pages of a part of a row group.

use std::collections::BTreeSet;
use std::ops::Range;

use parquet::file::metadata::ParquetMetaData;

/// Return the byte ranges of leaves of a row group for ascending disjoint rows: the pages of these rows where there is
/// an offset index, else the whole column chunks.
pub(crate) fn ranges(
    metadata: &ParquetMetaData,
    row_group: usize,
    rows: &[Range<u64>],
    leaves: &BTreeSet<usize>,
) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    for leaf in leaves {
        let group = metadata.row_groups().get(row_group);
        let Some(column) = group.and_then(|group| group.columns().get(*leaf)) else { continue };
        let (start, length) = column.byte_range();
        let chunk = start..start.saturating_add(length);
        match pages(metadata, row_group, *leaf) {
            Some(pages) => found.extend(of_pages(&chunk, &pages, rows)),
            None => found.push(chunk),
        }
    }
    found
}

/// Return the number of pages of leaves of a row group and the number of pages that hold any of `rows`. `None` if a
/// leaf has no offset index.
pub(crate) fn page_counts(
    metadata: &ParquetMetaData,
    row_group: usize,
    rows: &[Range<u64>],
    leaves: &BTreeSet<usize>,
) -> Option<(u64, u64)> {
    let (mut all, mut kept) = (0, 0);
    for leaf in leaves {
        let pages = pages(metadata, row_group, *leaf)?;
        all += pages.len() as u64;
        kept += held(&pages, rows).filter(|held| *held).count() as u64;
    }
    Some((all, kept))
}

struct Page {
    start: u64,
    length: u64,
    first_row: u64,
}

/// Return the data pages of a column chunk from its offset index.
fn pages(metadata: &ParquetMetaData, row_group: usize, leaf: usize) -> Option<Vec<Page>> {
    let index = metadata.page_index()?.offset_index(row_group, leaf)?;
    let pages = index.page_locations().iter().map(|page| Page {
        start: u64::try_from(page.offset).unwrap_or(0),
        length: u64::try_from(page.compressed_page_size).unwrap_or(0),
        first_row: u64::try_from(page.first_row_index).unwrap_or(0),
    });
    Some(pages.collect::<Vec<_>>()).filter(|pages| !pages.is_empty())
}

/// Return for each page whether it holds any of `rows`.
fn held<'a>(pages: &'a [Page], rows: &'a [Range<u64>]) -> impl Iterator<Item = bool> + 'a {
    let ends = pages.iter().skip(1).map(|next| next.first_row).chain([u64::MAX]);
    let mut rows = rows.iter().peekable();
    pages.iter().zip(ends).map(move |(page, end)| {
        while rows.next_if(|rows| rows.end <= page.first_row).is_some() {}
        rows.peek().is_some_and(|rows| rows.start < end)
    })
}

/// Return the byte ranges of the dictionary page, which precedes the first data page, and of the data pages that hold
/// any of `rows`. Adjacent pages form one range.
fn of_pages(chunk: &Range<u64>, pages: &[Page], rows: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    if let Some(first) = pages.first().filter(|first| first.start > chunk.start) {
        found.push(chunk.start..first.start);
    }
    let mut run: Option<Range<u64>> = None;
    for (page, held) in pages.iter().zip(held(pages, rows)) {
        if held {
            let start = run.map_or(page.start, |run| run.start);
            run = Some(start..page.start.saturating_add(page.length));
        } else {
            found.extend(run.take());
        }
    }
    found.extend(run);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_rows_and_the_dictionary_are_read() {
        let page = |start, first_row| Page { start, length: 10, first_row };
        let pages = [page(20, 0), page(30, 100), page(40, 200)];
        let of = |chunk: Range<u64>, rows: &[Range<u64>]| of_pages(&chunk, &pages, rows);
        let one = |range: Range<u64>| vec![range];
        assert_eq!(of(5..50, &one(0..100)), [5..20, 20..30]);
        assert_eq!(of(5..50, &one(150..201)), [5..20, 30..50]);
        assert_eq!(of(20..50, &one(200..900)), one(40..50));
        assert_eq!(of(20..50, &[3..4, 98..99, 250..251]), [20..30, 40..50]);
        assert_eq!(of(20..50, &[3..4, 99..101]), one(20..40));
    }
}

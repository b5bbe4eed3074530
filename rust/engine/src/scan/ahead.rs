//! The bytes that a part of a row group is decoded from.

use std::collections::BTreeSet;
use std::ops::Range;

use parquet::file::metadata::ParquetMetaData;

/// Byte ranges of some leaves of a row group, for rows of it: their pages where the offset index is known,
/// else all of their column chunks.
pub(crate) fn ranges(
    metadata: &ParquetMetaData,
    row_group: usize,
    rows: &Range<u64>,
    leaves: &BTreeSet<usize>,
) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    for leaf in leaves {
        let group = metadata.row_groups().get(row_group);
        let Some(column) = group.and_then(|group| group.columns().get(*leaf)) else { continue };
        let (start, length) = column.byte_range();
        let chunk = start..start.saturating_add(length);
        let index = metadata.page_index().and_then(|index| index.offset_index(row_group, *leaf));
        match index.map(|index| index.page_locations().as_slice()) {
            Some(pages) if !pages.is_empty() => {
                let pages: Vec<Page> = pages
                    .iter()
                    .map(|page| Page {
                        start: u64::try_from(page.offset).unwrap_or(0),
                        length: u64::try_from(page.compressed_page_size).unwrap_or(0),
                        first_row: u64::try_from(page.first_row_index).unwrap_or(0),
                    })
                    .collect();
                found.extend(of_pages(&chunk, &pages, rows));
            }
            _ => found.push(chunk),
        }
    }
    found
}

struct Page {
    start: u64,
    length: u64,
    first_row: u64,
}

/// The dictionary, which is before the first page, and the pages that hold any of the rows.
fn of_pages(chunk: &Range<u64>, pages: &[Page], rows: &Range<u64>) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    if let Some(first) = pages.first().filter(|first| first.start > chunk.start) {
        found.push(chunk.start..first.start);
    }
    let ends = pages.iter().skip(1).map(|next| next.first_row).chain([u64::MAX]);
    let mut held: Option<Range<u64>> = None;
    for (page, end) in pages.iter().zip(ends) {
        if page.first_row < rows.end && end > rows.start {
            let start = held.map_or(page.start, |held| held.start);
            held = Some(start..page.start.saturating_add(page.length));
        }
    }
    found.extend(held);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_rows_and_the_dictionary_are_read() {
        let page = |start, first_row| Page { start, length: 10, first_row };
        let pages = [page(20, 0), page(30, 100), page(40, 200)];
        assert_eq!(of_pages(&(5..50), &pages, &(0..100)), [5..20, 20..30]);
        assert_eq!(of_pages(&(5..50), &pages, &(150..201)), [5..20, 30..50]);
        let last = of_pages(&(20..50), &pages, &(200..900));
        assert_eq!(last, std::slice::from_ref(&(40..50)));
    }
}

//! The join of a source with rows of a table by their keys. Only hashes of the source's keys are stored, and the table's
//! rows are read once, as batches of keys and positions.
//!
//! Keys are compared by a 128-bit hash with a random key. NaN equals NaN and -0.0 equals 0.0; null equals null only in
//! key columns that are null-safe. Over a budget of memory, both sides go to temporary files in shares by hash.

mod index;
mod joined_rows;
mod keys;
mod shares;
mod source_keys;

pub use joined_rows::{JoinedRows, Probe};
pub use source_keys::SourceKeys;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::*;

    fn keys(rows: &[(Option<i64>, f64)]) -> [(&'static str, ArrayRef); 2] {
        let ids: Int64Array = rows.iter().map(|(id, _)| *id).collect();
        let weights: Float64Array = rows.iter().map(|(_, weight)| Some(*weight)).collect();
        [("id", Arc::new(ids)), ("weight", Arc::new(weights))]
    }

    fn joined(
        source: &[(Option<i64>, f64)],
        target: &[(Option<i64>, f64)],
        null_safe: bool,
        budget: usize,
    ) -> (String, Option<(u32, u32)>) {
        let mut rows = SourceKeys::new(vec![null_safe, false], budget);
        for part in source.chunks(3) {
            rows.add(&RecordBatch::try_from_iter(keys(part)).unwrap()).unwrap();
        }
        let repeated = rows.repeated().unwrap();
        let mut probe = Probe::new(rows, vec!["a".into(), "b".into()], true);
        for (start, part) in (0..).step_by(2).zip(target.chunks(2)) {
            let file = if start < 4 { "a" } else { "b" };
            let files: StringArray = part.iter().map(|_| Some(file)).collect();
            let positions: Int64Array = (start..).take(part.len()).collect();
            let located: [(&str, ArrayRef); 2] =
                [("_file", Arc::new(files)), ("_pos", Arc::new(positions))];
            let columns = keys(part).into_iter().chain(located);
            probe.add(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        }
        let found = probe.finish().unwrap();
        let lists = [&found.pairs, &found.unmatched].map(|batch| {
            let columns = batch.columns().iter().map(|column| format!("{column:?}"));
            columns.collect::<String>()
        });
        let shown = format!("{}|{}|{:?}", lists[0], lists[1], found.unmatched_source);
        let numbers = shown.split(|letter: char| !(letter.is_ascii_digit() || letter == '|'));
        let known = ["32", "64", ""];
        let kept = numbers.filter(|word| !known.contains(word)).collect::<Vec<_>>();
        (kept.join(" "), repeated)
    }

    #[test]
    fn pairs_and_others_are_the_same_in_memory_and_in_files() {
        let source =
            [(Some(1), 0.0), (Some(2), f64::NAN), (None, 1.0), (Some(1), -0.0), (Some(7), 1.0)];
        let target =
            [(Some(1), -0.0), (None, 1.0), (Some(2), -f64::NAN), (Some(9), 1.0), (Some(1), 0.0)];
        for budget in [1 << 20, 0] {
            let (found, repeated) = joined(&source, &target, false, budget);
            // Files, positions and source rows of pairs, files and positions of others, other source rows.
            assert_eq!(found, "0 0 0 1 1 0 0 2 4 4 0 3 1 0 3 | 0 0 1 3 | 2 4");
            assert_eq!(repeated, Some((0, 3)));
            let (found, _) = joined(&source, &target, true, budget);
            assert_eq!(found, "0 0 0 0 1 1 0 0 1 2 4 4 0 3 2 1 0 3 | 0 3 | 4");
        }
        assert_eq!(joined(&source[..3], &target, true, 0).1, None);
    }

    #[test]
    fn wrong_columns_are_refused() {
        let mut rows = SourceKeys::new(vec![false], 1 << 20);
        let two = RecordBatch::try_from_iter(keys(&[(Some(1), 1.0)])).unwrap();
        assert!(rows.add(&two).unwrap_err().to_string().contains("expected 1 columns, got 2"));
        let mut probe = Probe::new(rows, vec![], false);
        assert!(probe.add(&two).is_err());
    }
}

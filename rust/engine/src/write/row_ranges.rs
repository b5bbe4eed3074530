//! Ranges of rows in their order, which several sorts can work on at the same time.

use arrow_array::{BinaryArray, Int32Array, RecordBatch};
use icefloe_format::Result;

use super::row_order::{RowKeys, RowOrder};

impl RowOrder {
    /// The key of each row as bytes, whose order is that of the rows.
    ///
    /// # Errors
    /// `InvalidArgument` for a batch without the columns of the keys.
    pub fn key_bytes(&self, batch: &RecordBatch) -> Result<BinaryArray> {
        let keys = self.keys(batch)?;
        let bytes: Vec<Vec<u8>> =
            (0..keys.len()).map(|row| bytes_of(&keys, row).to_vec()).collect();
        Ok(BinaryArray::from_iter_values(bytes))
    }

    /// The range of each row: the number of bounds that are at most its key. Bounds are keys in ascending order, so rows with
    /// equal keys are in one range.
    ///
    /// # Errors
    /// `InvalidArgument` for a batch without the columns of the keys.
    pub fn ranges(&self, batch: &RecordBatch, bounds: &[impl AsRef<[u8]>]) -> Result<Int32Array> {
        let keys = self.keys(batch)?;
        let range = |row: usize| {
            let key = bytes_of(&keys, row);
            let below = bounds.partition_point(|bound| bound.as_ref() <= key.as_ref());
            i32::try_from(below).unwrap_or(i32::MAX)
        };
        Ok((0..keys.len()).map(range).collect::<Vec<i32>>().into())
    }
}

/// The whole key of a row.
enum KeyBytes<'a> {
    Short([u8; 16]),
    Whole(&'a [u8]),
}

impl AsRef<[u8]> for KeyBytes<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Whole(bytes) => bytes,
        }
    }
}

impl KeyBytes<'_> {
    fn to_vec(&self) -> Vec<u8> {
        self.as_ref().to_vec()
    }
}

fn bytes_of(keys: &RowKeys, row: usize) -> KeyBytes<'_> {
    if keys.rows.is_some() {
        KeyBytes::Whole(keys.key(row))
    } else {
        KeyBytes::Short(keys.prefix(row).to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};

    use super::*;

    const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
        {"id":1,"name":"a","required":false,"type":"long"},{"id":2,"name":"s","required":false,"type":"string"}]}"#;

    fn order(keys: &str) -> RowOrder {
        let schema = Schema::from_json(SCHEMA).unwrap();
        let spec = PartitionSpec::from_json(r#"{"spec-id":0,"fields":[]}"#).unwrap();
        let order =
            SortOrder::from_json(&format!(r#"{{"order-id":1,"fields":[{keys}]}}"#)).unwrap();
        RowOrder::new(&schema, &spec, Some(&order), None).unwrap()
    }

    fn rows(a: &[Option<i64>], s: &[&str]) -> RecordBatch {
        let a: ArrayRef = Arc::new(Int64Array::from(a.to_vec()));
        let s: ArrayRef = Arc::new(StringArray::from(s.to_vec()));
        RecordBatch::try_from_iter_with_nullable([("a", a, true), ("s", s, true)]).unwrap()
    }

    #[test]
    fn equal_keys_are_in_one_range() {
        let order = order(
            r#"{"source-id":1,"transform":"identity","direction":"desc","null-order":"nulls-last"}"#,
        );
        let bounds = order.key_bytes(&rows(&[Some(5), Some(2)], &["", ""])).unwrap();
        let bounds: Vec<&[u8]> = bounds.iter().flatten().collect();
        let batch = rows(&[Some(9), Some(5), Some(3), Some(2), Some(2), None], &[""; 6]);
        let found = order.ranges(&batch, &bounds).unwrap();
        assert_eq!(found.values(), &[0, 1, 1, 2, 2, 2]);
        assert_eq!(order.ranges(&batch, &[] as &[&[u8]]).unwrap().values(), &[0; 6]);
    }

    #[test]
    fn long_keys_are_compared_as_a_whole() {
        let order = order(
            r#"{"source-id":2,"transform":"identity","direction":"asc","null-order":"nulls-first"},
            {"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}"#,
        );
        let text = "a text of more than sixteen bytes";
        let bounds = order.key_bytes(&rows(&[Some(2)], &[text])).unwrap();
        let bounds: Vec<&[u8]> = bounds.iter().flatten().collect();
        let batch = rows(&[Some(1), Some(2), Some(3), Some(0)], &[text, text, text, "b"]);
        assert_eq!(order.ranges(&batch, &bounds).unwrap().values(), &[0, 1, 1, 1]);
    }
}

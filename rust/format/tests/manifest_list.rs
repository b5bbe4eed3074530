//! Manifest lists: stamping, versions, damage.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, new_null_array};
use arrow_schema::DataType;
use icefloe_format::Error;
use icefloe_format::codec::Codec;
use icefloe_format::manifest::summary::{Count, FieldSummary, ManifestSummary};
use icefloe_format::manifest::{
    ListOptions, ManifestContent, ManifestFile, decode_manifest_list, encode_manifest_list,
    manifest_files_to_batch,
};
use proptest::prelude::*;

type Written = (ManifestFile, ManifestSummary);

fn file(content: ManifestContent, format_version: u8, least: Option<i64>) -> Written {
    let field = FieldSummary {
        contains_null: true,
        contains_nan: None,
        lower_bound: Some(vec![1, 2]),
        upper_bound: None,
    };
    let file = ManifestFile {
        path: "s3://bucket/m0.avro".into(),
        length: 1 << 40,
        spec_id: 3,
        content,
        sequence_number: (format_version == 1).then_some(0),
        added_snapshot_id: Some(55),
        added_files: Some(1),
        existing_files: Some(2),
    };
    let summary = ManifestSummary {
        added: Count { files: 1, rows: 10 },
        existing: Count { files: 2, rows: 20 },
        deleted: Count { files: 3, rows: 30 },
        min_sequence_number: least,
        partitions: Some(vec![field.clone(), FieldSummary::default(), field]),
    };
    (file, summary)
}

fn options(format_version: u8) -> ListOptions {
    ListOptions { format_version, snapshot_id: 55, parent_snapshot_id: None, sequence_number: 8 }
}

fn round_trip(files: &[Written], version: u8) -> RecordBatch {
    let batch = manifest_files_to_batch(files).unwrap();
    let bytes = encode_manifest_list(&batch, &options(version), Codec::Deflate(6), [1; 16]);
    decode_manifest_list(&bytes.unwrap()).unwrap()
}

fn longs(list: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    list.column_by_name(name).unwrap().as_primitive::<Int64Type>().iter().collect()
}

#[test]
fn only_new_manifests_are_stamped() {
    let files = [file(ManifestContent::Data, 2, None), file(ManifestContent::Deletes, 2, Some(3))];
    let first = round_trip(&files, 2);
    assert_eq!(longs(&first, "sequence_number"), [Some(8), Some(8)]);
    assert_eq!(longs(&first, "min_sequence_number"), [Some(8), Some(3)]);
    let later = ListOptions { sequence_number: 9, ..options(2) };
    let bytes = encode_manifest_list(&first, &later, Codec::Null, [1; 16]).unwrap();
    assert_eq!(decode_manifest_list(&bytes).unwrap(), first);
    let contents = first.column_by_name("content").unwrap().as_primitive::<Int32Type>();
    assert_eq!(contents.values(), &[0, 1]);
}

#[test]
fn manifests_of_version_1_keep_the_number_0_in_a_list_of_version_2() {
    let list = round_trip(&[file(ManifestContent::Data, 1, None)], 2);
    assert_eq!(longs(&list, "sequence_number"), [Some(0)]);
    assert_eq!(longs(&list, "min_sequence_number"), [Some(0)]);
}

#[test]
fn summaries_survive() {
    for version in [1, 2] {
        let list = round_trip(&[file(ManifestContent::Data, version, None)], version);
        let summaries = list.column_by_name("partitions").unwrap().as_list::<i32>().value(0);
        let summaries = summaries.as_struct();
        assert_eq!(summaries.len(), 3);
        let lower = summaries.column_by_name("lower_bound").unwrap().as_binary::<i32>();
        assert_eq!((lower.value(0), lower.is_null(1)), (&[1, 2][..], true));
        assert_eq!(summaries.column_by_name("contains_nan").unwrap().null_count(), 3);
        assert_eq!(longs(&list, "deleted_rows_count"), [Some(30)]);
        assert_eq!(longs(&list, "manifest_length"), [Some(1 << 40)]);
    }
}

#[test]
fn version_1_lists_no_delete_files() {
    let batch = manifest_files_to_batch(&[file(ManifestContent::Deletes, 2, None)]).unwrap();
    let error = encode_manifest_list(&batch, &options(1), Codec::Null, [1; 16]).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument { .. }));
    let error = encode_manifest_list(&batch, &options(3), Codec::Null, [1; 16]).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
}

#[test]
fn manifest_files_survive_a_batch() {
    let written = [file(ManifestContent::Data, 2, None), file(ManifestContent::Deletes, 1, None)];
    let found = ManifestFile::from_batch(&manifest_files_to_batch(&written).unwrap()).unwrap();
    assert_eq!(found, written.map(|(file, _)| file));
}

#[test]
fn manifest_files_of_unknown_counts_may_be_live() {
    let known = file(ManifestContent::Data, 2, None).0;
    assert_eq!((known.may_have_live_files(), known.live_files()), (true, 3));
    let unknown = ManifestFile { added_files: None, existing_files: Some(0), ..known.clone() };
    assert_eq!((unknown.may_have_live_files(), unknown.live_files()), (true, 0));
    let empty = ManifestFile { added_files: Some(0), existing_files: Some(0), ..known.clone() };
    assert!(!empty.may_have_live_files());
    let negative = ManifestFile { length: -1, added_files: Some(-5), ..known };
    assert_eq!((negative.stated_length(), negative.live_files()), (None, 2));
}

fn with_column(name: &str, column: ArrayRef) -> RecordBatch {
    let list = manifest_files_to_batch(&[file(ManifestContent::Data, 2, None)]).unwrap();
    let mut columns = list.columns().to_vec();
    columns[list.schema().index_of(name).unwrap()] = column;
    RecordBatch::try_new(list.schema(), columns).unwrap()
}

#[test]
fn rows_that_name_no_manifest_are_refused() {
    let bad: [(&str, ArrayRef); 4] = [
        ("manifest_path", new_null_array(&DataType::Utf8, 1)),
        ("manifest_length", new_null_array(&DataType::Int64, 1)),
        ("partition_spec_id", new_null_array(&DataType::Int32, 1)),
        ("content", Arc::new(Int32Array::from(vec![2]))),
    ];
    for (name, column) in bad {
        let error = ManifestFile::from_batch(&with_column(name, column)).unwrap_err();
        assert!(matches!(&error, Error::InvalidArgument { .. }), "{error}");
        assert!(error.to_string().starts_with(name), "{error}");
    }
}

proptest! {
    #[test]
    fn damaged_lists_never_panic(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let batch = manifest_files_to_batch(&[file(ManifestContent::Data, 2, Some(1))]).unwrap();
        let mut bytes = encode_manifest_list(&batch, &options(2), Codec::Null, [1; 16]).unwrap();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let _ = decode_manifest_list(&bytes);
    }
}

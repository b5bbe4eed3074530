//! Pairing of delete files with data files against the reference's index of one table.

use icefloe_format::delete::{DeleteIndex, TableFacts};
use icefloe_format::spec::{PartitionSpec, PrimitiveType};
use serde_json::Value;

use super::index::{File, applying, batch};
use crate::vectors::{cases, text};

struct Table(Vec<PartitionSpec>);

impl TableFacts for Table {
    fn is_unpartitioned(&self, spec_id: i32) -> bool {
        self.0.iter().any(|spec| spec.spec_id == spec_id && spec.is_unpartitioned())
    }

    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)> {
        (field_id == 1).then_some((PrimitiveType::Long, false))
    }
}

fn int(value: &Value) -> i32 {
    i32::try_from(value.as_i64().unwrap()).unwrap()
}

fn file(case: &Value, path: String) -> File {
    let stats = &case["stats"];
    let bounds = match (stats["lower"].as_i64(), stats["upper"].as_i64()) {
        (Some(low), Some(high)) => {
            vec![(1, low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec())]
        }
        _ => Vec::new(),
    };
    let content = case["content"].as_i64().map_or(0, |content| i32::try_from(content).unwrap());
    File {
        content,
        path,
        format: "PARQUET",
        spec_id: int(&case["spec_id"]),
        partition: case["partition"].to_string(),
        sequence_number: case["sequence_number"].as_i64().unwrap(),
        equality_ids: if content == 2 { vec![1] } else { Vec::new() },
        referenced: case["referenced"].as_str().map(str::to_owned),
        bounds,
        counts: stats["null_count"].as_i64().map(|nulls| (1, 10, nulls)).into_iter().collect(),
    }
}

#[test]
fn deletes_apply_as_in_the_vectors() {
    for case in cases("delete_index") {
        let specs = case["specs"].as_array().unwrap().iter();
        let table = Table(specs.map(|spec| PartitionSpec::from_value(spec).unwrap()).collect());
        let deletes = case["deletes"].as_array().unwrap().iter().enumerate();
        let deletes: Vec<File> =
            deletes.map(|(row, delete)| file(delete, format!("delete-{row}"))).collect();
        let data = case["data"].as_array().unwrap();
        let files: Vec<File> =
            data.iter().map(|data| file(data, text(data, "path").to_owned())).collect();
        let index = DeleteIndex::new(&batch(&deletes), &table).unwrap();
        for (data, found) in data.iter().zip(applying(&index, &batch(&files))) {
            let expected: Vec<i32> = data["deletes"].as_array().unwrap().iter().map(int).collect();
            assert_eq!(found, expected, "{data}");
        }
    }
}

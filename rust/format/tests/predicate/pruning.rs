//! Pruning never loses a matching row, and what must match does: partitions, manifests, residuals.

use arrow_array::ListArray;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, ListBuilder, StructBuilder};
use icefloe_format::manifest::columns::field_summary_fields;
use icefloe_format::predicate::{
    BoundPredicate, ManifestSummaries, PartitionTuples, Predicate, bind, evaluate_inclusive,
    evaluate_strict, parse_json, project_inclusive, project_strict, residuals, to_unbound_json,
};
use icefloe_format::spec::{
    Datum, Partition, PartitionField, PartitionSpec, PrimitiveType, StructType, Transform,
    single_value,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::oracle::{self, Row};

fn transforms(kind: PrimitiveType) -> Vec<Transform> {
    let texts = [
        "identity",
        "bucket[3]",
        "truncate[1]",
        "truncate[2]",
        "truncate[10]",
        "truncate[7]",
        "year",
        "month",
        "day",
        "hour",
        "void",
        "unheard-of",
    ];
    let parsed = texts.iter().map(|text| text.parse::<Transform>().unwrap());
    parsed.filter(|transform| transform.can_transform(&kind)).collect()
}

#[derive(Debug, Clone)]
struct Table {
    types: Vec<PrimitiveType>,
    spec: PartitionSpec,
    predicate: BoundPredicate,
    rows: Vec<Row>,
}

impl Table {
    /// An unknown transform's values may be anything: here null.
    fn partition(&self, row: &Row) -> Partition {
        let value = |field: &PartitionField| {
            let source = row[usize::try_from(field.source_id).unwrap() - 1].as_ref()?;
            match field.transform {
                Transform::Unknown(_) => None,
                _ => field.transform.apply(source).unwrap(),
            }
        };
        self.spec.fields.iter().map(value).collect()
    }

    fn partition_type(&self) -> StructType {
        self.spec.partition_type(&oracle::schema(&self.types))
    }
}

fn table() -> impl Strategy<Value = Table> {
    prop::collection::vec(oracle::types(), 1..3).prop_flat_map(|types| {
        let fields: Vec<BoxedStrategy<Vec<Transform>>> = types
            .iter()
            .map(|kind| prop::collection::vec(select(transforms(*kind)), 0..3).boxed())
            .collect();
        let predicate = oracle::predicate(types.clone());
        let rows = oracle::rows(types.clone(), 1..25);
        (Just(types), fields, predicate, rows).prop_map(|(types, fields, predicate, rows)| {
            let mut spec = PartitionSpec { spec_id: 0, fields: Vec::new() };
            for (transforms, source_id) in fields.into_iter().zip(1..) {
                for transform in transforms {
                    let field_id = 1000 + i32::try_from(spec.fields.len()).unwrap();
                    let name = format!("p{field_id}");
                    spec.fields.push(PartitionField { source_id, field_id, name, transform });
                }
            }
            Table { types, spec, predicate, rows }
        })
    })
}

/// A manifest's summaries of these tuples, as a writer makes them.
fn summaries(partition_type: &StructType, tuples: &[Partition]) -> ListArray {
    let builders: Vec<Box<dyn arrow_array::builder::ArrayBuilder>> = vec![
        Box::new(BooleanBuilder::new()),
        Box::new(BooleanBuilder::new()),
        Box::new(BinaryBuilder::new()),
        Box::new(BinaryBuilder::new()),
    ];
    let mut lists = ListBuilder::new(StructBuilder::new(field_summary_fields(), builders));
    for position in 0..partition_type.fields.len() {
        let values: Vec<&Datum> =
            tuples.iter().filter_map(|tuple| tuple[position].as_ref()).collect();
        let ordered = || values.iter().filter(|value| !value.is_nan());
        let least = ordered().min_by(|a, b| a.compare(b).unwrap());
        let greatest = ordered().max_by(|a, b| a.compare(b).unwrap());
        let summary = lists.values();
        summary
            .field_builder::<BooleanBuilder>(0)
            .unwrap()
            .append_value(values.len() < tuples.len());
        summary
            .field_builder::<BooleanBuilder>(1)
            .unwrap()
            .append_value(values.iter().any(|value| value.is_nan()));
        let bytes = |value: Option<&&Datum>| value.map(|value| single_value::to_bytes(value));
        summary.field_builder::<BinaryBuilder>(2).unwrap().append_option(bytes(least));
        summary.field_builder::<BinaryBuilder>(3).unwrap().append_option(bytes(greatest));
        summary.append(true);
    }
    lists.append(true);
    lists.append(false);
    lists.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn projections_bound_the_rows_of_each_partition(table in table()) {
        let schema = oracle::schema(&table.types);
        let tuples: Vec<Partition> = table.rows.iter().map(|row| table.partition(row)).collect();
        let stats = PartitionTuples::from_partitions(&table.partition_type(), &tuples).unwrap();
        let inclusive = project_inclusive(&table.predicate, &schema, &table.spec).unwrap();
        let strict = project_strict(&table.predicate, &schema, &table.spec).unwrap();
        let might = evaluate_inclusive(&inclusive, &stats).unwrap();
        let must = evaluate_strict(&strict, &stats).unwrap();
        for (position, row) in table.rows.iter().enumerate() {
            let matches = oracle::matches(&table.predicate, row);
            prop_assert!(might.value(position) || !matches, "lost {row:?} under {inclusive:?}");
            prop_assert!(!must.value(position) || matches, "claimed {row:?} under {strict:?}");
        }
    }

    #[test]
    fn residuals_decide_what_the_predicate_decides(table in table()) {
        let schema = oracle::schema(&table.types);
        let tuples: Vec<Partition> = table.rows.iter().map(|row| table.partition(row)).collect();
        let stats = PartitionTuples::from_partitions(&table.partition_type(), &tuples).unwrap();
        let left = residuals(&table.predicate, &table.spec, &schema, &stats).unwrap();
        for (row, place) in table.rows.iter().zip(&left.index) {
            let residual = &left.predicates[*place];
            prop_assert_eq!(
                oracle::matches(&table.predicate, row), oracle::matches(residual, row),
                "{:?} left {:?}", row, residual
            );
        }
    }

    #[test]
    fn identity_partitions_leave_nothing_to_filter(
        (kind, predicate, rows) in oracle::types().prop_flat_map(|kind| {
            (Just(kind), oracle::predicate(vec![kind]), oracle::rows(vec![kind], 1..10))
        })
    ) {
        let field = PartitionField {
            source_id: 1, field_id: 1000, name: "p".into(), transform: Transform::Identity,
        };
        let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
        let schema = oracle::schema(&[kind]);
        let stats =
            PartitionTuples::from_partitions(&spec.partition_type(&schema), &rows).unwrap();
        let left = residuals(&predicate, &spec, &schema, &stats).unwrap();
        for (row, place) in rows.iter().zip(&left.index) {
            let expected = match oracle::matches(&predicate, row) {
                true => Predicate::AlwaysTrue,
                false => Predicate::AlwaysFalse,
            };
            prop_assert_eq!(&left.predicates[*place], &expected);
        }
    }

    #[test]
    fn manifests_with_a_matching_row_are_kept(table in table()) {
        let schema = oracle::schema(&table.types);
        let tuples: Vec<Partition> = table.rows.iter().map(|row| table.partition(row)).collect();
        let partition_type = table.partition_type();
        let lists = summaries(&partition_type, &tuples);
        let stats = ManifestSummaries::new(&lists, &partition_type);
        let inclusive = project_inclusive(&table.predicate, &schema, &table.spec).unwrap();
        let strict = project_strict(&table.predicate, &schema, &table.spec).unwrap();
        let might = evaluate_inclusive(&inclusive, &stats).unwrap();
        let must = evaluate_strict(&strict, &stats).unwrap();
        let any = table.rows.iter().any(|row| oracle::matches(&table.predicate, row));
        let all = table.rows.iter().all(|row| oracle::matches(&table.predicate, row));
        prop_assert!(might.value(0) || !any);
        prop_assert!(!must.value(0) || all);
        // Of the manifest without summaries nothing is known.
        prop_assert!(might.value(1) || !any);
        prop_assert!(!must.value(1) || all);
    }
}

/// The inclusive and the strict projection of `term op value` by a spec of one field.
fn projected(kind: PrimitiveType, field: &str, term: &str, op: &str, value: &str) -> [String; 2] {
    let transform = field.parse().unwrap();
    let field = PartitionField { source_id: 1, field_id: 1000, name: "p".into(), transform };
    let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
    let schema = oracle::schema(&[kind]);
    let values = if value.starts_with('[') { "values" } else { "value" };
    let text = format!(
        r#"{{"type":"{op}","term":{{"type":"transform","transform":"{term}","term":"c1"}},"{values}":{value}}}"#
    );
    let bound = bind(&parse_json(&text).unwrap(), &schema, true).unwrap();
    [
        to_unbound_json(&project_inclusive(&bound, &schema, &spec).unwrap()),
        to_unbound_json(&project_strict(&bound, &schema, &spec).unwrap()),
    ]
}

#[test]
fn transform_projects_on_its_own_partition_field() {
    use PrimitiveType as P;
    let same = |op: &str, value: &str| {
        let values = if value.starts_with('[') { "values" } else { "value" };
        let text = format!(r#"{{"type":"{op}","term":"p","{values}":{value}}}"#);
        [text.clone(), text]
    };
    for op in ["eq", "not-eq", "lt", "gt-eq"] {
        assert_eq!(projected(P::Long, "bucket[16]", "bucket[16]", op, "3"), same(op, "3"));
        assert_eq!(
            projected(P::Date, "day", "day", op, "\"1969-01-01\""),
            same(op, "\"1969-01-01\"")
        );
        assert_eq!(projected(P::Timestamp, "year", "year", op, "56"), same(op, "56"));
    }
    assert_eq!(projected(P::Long, "bucket[16]", "bucket[16]", "in", "[1,3]"), same("in", "[1,3]"));
    assert_eq!(
        projected(P::String, "truncate[3]", "truncate[3]", "starts-with", "\"ab\""),
        same("starts-with", "\"ab\"")
    );
    // Another transform of the column says nothing.
    assert_eq!(projected(P::Long, "bucket[8]", "bucket[16]", "eq", "3"), ["true", "false"]);
}

#[test]
fn rows_before_1970_may_lie_one_partition_up() {
    use PrimitiveType::Timestamp;
    let one = |op: &str, value: &str| format!(r#"{{"type":"{op}","term":"p","value":{value}}}"#);
    let set = |op: &str, values: &str| format!(r#"{{"type":"{op}","term":"p","values":{values}}}"#);
    for (op, value, inclusive, strict) in [
        ("eq", "-1", set("in", "[-1,0]"), "false".to_owned()),
        ("eq", "0", one("eq", "0"), "false".to_owned()),
        ("not-eq", "-1", "true".to_owned(), set("not-in", "[-1,0]")),
        ("lt", "0", one("lt", "1"), one("lt", "0")),
        ("lt-eq", "-1", one("lt-eq", "0"), one("lt-eq", "-1")),
        ("gt", "-1", one("gt", "-1"), one("gt", "0")),
        ("gt-eq", "0", one("gt-eq", "0"), one("gt-eq", "1")),
        ("in", "[-2,5,6]", set("in", "[-2,-1,5,6]"), set("in", "[5,6]")),
        ("not-in", "[-2,5,6]", set("not-in", "[5,6]"), set("not-in", "[-2,-1,5,6]")),
    ] {
        assert_eq!(projected(Timestamp, "hour", "hour", op, value), [inclusive, strict], "{op}");
    }
}

#[test]
fn rows_that_old_writers_put_one_partition_up_are_found_and_never_claimed() {
    let schema = oracle::schema(&[PrimitiveType::Timestamp]);
    let transform: Transform = "month".parse().unwrap();
    let field = PartitionField { source_id: 1, field_id: 1000, name: "p".into(), transform };
    let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
    // Of month n, by a writer that rounds towards zero.
    let tuples: Vec<Partition> =
        (-4..4).map(|n| vec![Some(Datum::Int(if n < 0 { n + 1 } else { n }))]).collect();
    let stats = PartitionTuples::from_partitions(&spec.partition_type(&schema), &tuples).unwrap();
    for op in ["eq", "not-eq", "lt", "lt-eq", "gt", "gt-eq"] {
        for literal in -4..4 {
            let text = format!(
                r#"{{"type":"{op}","term":{{"type":"transform","transform":"month","term":"c1"}},"value":{literal}}}"#
            );
            let bound = bind(&parse_json(&text).unwrap(), &schema, true).unwrap();
            let inclusive = project_inclusive(&bound, &schema, &spec).unwrap();
            let strict = project_strict(&bound, &schema, &spec).unwrap();
            let might = evaluate_inclusive(&inclusive, &stats).unwrap();
            let must = evaluate_strict(&strict, &stats).unwrap();
            for (place, n) in (-4..4).enumerate() {
                let matches = match op {
                    "eq" => n == literal,
                    "not-eq" => n != literal,
                    "lt" => n < literal,
                    "lt-eq" => n <= literal,
                    "gt" => n > literal,
                    _ => n >= literal,
                };
                assert!(might.value(place) || !matches, "{n} {op} {literal} is lost");
                assert!(!must.value(place) || matches, "{n} {op} {literal} is claimed");
            }
        }
    }
}

#[test]
fn manifest_outside_the_range_is_pruned() {
    let types = vec![PrimitiveType::Int];
    let field = PartitionField {
        source_id: 1,
        field_id: 1000,
        name: "p".into(),
        transform: "truncate[10]".parse().unwrap(),
    };
    let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
    let schema = oracle::schema(&types);
    let partition_type = spec.partition_type(&schema);
    let lists =
        summaries(&partition_type, &[vec![Some(Datum::Int(20))], vec![Some(Datum::Int(40))]]);
    let stats = ManifestSummaries::new(&lists, &partition_type);
    for (filter, kept) in [
        (r#"{"type":"lt","term":"c1","value":20}"#, false),
        (r#"{"type":"lt","term":"c1","value":21}"#, true),
        (r#"{"type":"gt","term":"c1","value":49}"#, false),
        (r#"{"type":"is-null","term":"c1"}"#, false),
        (r#"{"type":"in","term":"c1","values":[5,55]}"#, false),
        (r#"{"type":"in","term":"c1","values":[5,33,55]}"#, true),
    ] {
        let parsed = parse_json(filter).unwrap();
        let bound = bind(&parsed, &schema, true).unwrap();
        let projected = project_inclusive(&bound, &schema, &spec).unwrap();
        assert_eq!(evaluate_inclusive(&projected, &stats).unwrap().value(0), kept, "{filter}");
    }
}

#[test]
fn minimum_ints_match_their_wrapped_partition() {
    for width in [7_u32, 10, 1000, 2_147_483_647] {
        let transform: Transform = format!("truncate[{width}]").parse().unwrap();
        let field = PartitionField {
            source_id: 1,
            field_id: 1000,
            name: "p".into(),
            transform: transform.clone(),
        };
        let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
        let schema = oracle::schema(&[PrimitiveType::Int]);
        let tuple = vec![transform.apply(&Datum::Int(i32::MIN)).unwrap()];
        let stats =
            PartitionTuples::from_partitions(&spec.partition_type(&schema), &[tuple]).unwrap();
        let bound = |op: &str| {
            let text = format!(r#"{{"type":"{op}","term":"c1","value":0}}"#);
            bind(&parse_json(&text).unwrap(), &schema, true).unwrap()
        };
        let might = project_inclusive(&bound("lt"), &schema, &spec).unwrap();
        assert!(evaluate_inclusive(&might, &stats).unwrap().value(0), "{width}");
        let must = project_strict(&bound("gt"), &schema, &spec).unwrap();
        assert!(!evaluate_strict(&must, &stats).unwrap().value(0), "{width}");
    }
}

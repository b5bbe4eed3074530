use icefloe_format::spec::{NullOrder, SortDirection, SortOrder, Transform};

#[test]
fn sort_order_survives_a_round_trip() {
    let text = concat!(
        r#"{"order-id":1,"fields":[{"transform":"bucket[4]","source-id":2,"direction":"desc","#,
        r#""null-order":"nulls-last"}]}"#
    );
    let order = SortOrder::from_json(text).unwrap();
    assert_eq!(order.fields[0].transform, "bucket[4]".parse::<Transform>().unwrap());
    assert_eq!(order.fields[0].direction, SortDirection::Descending);
    assert_eq!(order.fields[0].null_order, NullOrder::Last);
    assert_eq!(order.to_json(), text);
}

#[test]
fn unsorted_order_has_id_0_and_no_fields() {
    let order = SortOrder::from_json(r#"{"order-id":0,"fields":[]}"#).unwrap();
    assert!(order.is_unsorted());
}

#[test]
fn words_outside_the_spec_are_refused() {
    let text = |direction: &str, nulls: &str| {
        format!(
            r#"{{"order-id":1,"fields":[{{"transform":"identity","source-id":1,"direction":"{direction}","null-order":"{nulls}"}}]}}"#
        )
    };
    assert!(SortOrder::from_json(&text("asc", "nulls-first")).is_ok());
    assert!(SortOrder::from_json(&text("up", "nulls-first")).is_err());
    assert!(SortOrder::from_json(&text("asc", "first")).is_err());
}

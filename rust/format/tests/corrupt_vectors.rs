//! The shared vectors of bytes that are no manifest list: each error names the reason and the position.

use std::path::Path;

use icefloe_format::Error;
use icefloe_format::manifest::decode_manifest_list;
use serde_json::Value;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

#[test]
fn invalid_manifest_lists_are_refused_with_the_reason() {
    let path = "../../tests/vectors/corrupt_manifest_list.json";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() >= 30);
    for case in &cases {
        let note = &case["note"];
        match decode_manifest_list(&bytes(case["bytes"].as_str().unwrap())).unwrap_err() {
            Error::Corrupt { what, offset, reason } => {
                assert_eq!(what, case["what"], "{note}");
                assert_eq!(offset, case["at"].as_u64(), "{note}");
                assert!(reason.contains(case["reason"].as_str().unwrap()), "{note}: {reason}");
            }
            Error::Unsupported { feature } => assert_eq!(feature, case["unsupported"], "{note}"),
            other => assert_eq!(other.to_string(), "", "{note}"),
        }
    }
}

//! Avro's encoding, schemas and containers, sound and damaged.

use icefloe_format::Error;
use icefloe_format::avro::encode::put_long;
use icefloe_format::avro::skip::skip;
use icefloe_format::avro::{AvroType, Container, ContainerWriter, Cursor, Malformed};
use icefloe_format::codec::{Codec, Decompressor};
use proptest::prelude::*;

const CODECS: [Codec; 5] =
    [Codec::Null, Codec::Deflate(6), Codec::Snappy, Codec::Zstandard(3), Codec::Bzip2(9)];

fn blocks(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut blocks = Container::parse(bytes).unwrap().blocks();
    let mut out = Vec::new();
    while let Some(block) = blocks.next_block().unwrap() {
        out.push((block.count, block.bytes.to_vec()));
    }
    out
}

fn container(codec: Codec, records: usize) -> Vec<u8> {
    let metadata = [("note", "☃".to_owned())];
    let mut writer = ContainerWriter::new("\"bytes\"", &metadata, codec, [9; 16]);
    for record in 0..records {
        writer
            .record(|out| {
                put_long(out, 300);
                out.extend(std::iter::repeat_n(record.to_le_bytes()[0], 300));
                Ok(())
            })
            .unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn blocks_of_every_codec_round_trip() {
    let expected = blocks(&container(Codec::Null, 1000));
    assert!(expected.len() > 3, "a block holds about 64 KiB");
    assert_eq!(expected.iter().map(|(count, _)| count).sum::<usize>(), 1000);
    for codec in CODECS {
        let bytes = container(codec, 1000);
        assert_eq!(blocks(&bytes), expected, "{codec:?}");
        assert_eq!(Container::parse(&bytes).unwrap().metadata("note"), Ok(Some("☃")));
    }
}

#[test]
fn snappy_block_with_a_wrong_checksum_is_corrupt() {
    let mut bytes = container(Codec::Snappy, 1);
    let checksum = bytes.len() - 16 - 1;
    bytes[checksum] ^= 1;
    let mut blocks = Container::parse(&bytes).unwrap().blocks();
    assert!(matches!(blocks.next_block(), Err(Error::Corrupt { offset: Some(_), .. })));
}

#[test]
fn oversized_block_of_zeros_is_refused_unread() {
    let zeros = vec![0; 8 << 20];
    for codec in CODECS {
        let mut writer = ContainerWriter::new("\"bytes\"", &[], codec, [9; 16]);
        writer
            .record(|out| {
                out.extend_from_slice(&zeros);
                Ok(())
            })
            .unwrap();
        let bytes = writer.finish().unwrap();
        let allowed = (1 << 20) + 1040 * bytes.len() >= zeros.len();
        let mut blocks = Container::parse(&bytes).unwrap().blocks();
        match blocks.next_block() {
            Ok(block) => assert!(allowed && block.unwrap().bytes == zeros, "{codec:?}"),
            Err(Error::Corrupt { offset: Some(_), reason, .. }) => {
                assert!(!allowed && reason.contains("expected at most"), "{codec:?}: {reason}");
            }
            Err(other) => panic!("{codec:?}: {other}"),
        }
    }
}

#[test]
fn zstandard_block_is_read_with_and_without_a_stated_length() {
    let data = (0..1 << 20).map(|at: u32| at.to_le_bytes()[1]).collect::<Vec<_>>();
    let streamed = zstd::stream::encode_all(&data[..], 3).unwrap();
    let known = zstd::bulk::compress(&data, 3).unwrap();
    for block in [&streamed, &known] {
        let mut decompressor = Decompressor::new(Codec::Zstandard(3));
        assert_eq!(decompressor.decompress(block, 1 << 20).unwrap(), data);
        assert!(decompressor.decompress(block, (1 << 20) - 1).is_err());
    }
}

#[test]
fn unknown_codec_is_unsupported_with_its_name() {
    let mut bytes = container(Codec::Deflate(1), 1);
    let at = bytes.windows(7).position(|window| window == b"deflate").unwrap();
    bytes[at..at + 7].copy_from_slice(b"inflate");
    let error = Container::parse(&bytes).unwrap_err();
    assert_eq!(error, Error::unsupported("the Avro codec inflate"));
}

#[test]
fn schemas_that_would_exhaust_the_reader_are_refused() {
    let recursive = r#"{"type":"record","name":"r","fields":[{"name":"x","type":"r"}]}"#;
    assert!(matches!(AvroType::parse(recursive), Err(Error::Unsupported { .. })));
    // Each record holds the one before it twice, so that the tree has 2^40 leaves.
    let mut fields = String::from(r#"{"name":"f0","type":{"type":"fixed","name":"r0","size":1}}"#);
    let mut chain = fields.clone();
    for level in 1..40 {
        let inner = level - 1;
        fields.push_str(&format!(
            r#",{{"name":"f{level}","type":{{"type":"record","name":"r{level}","fields":[{{"name":"a","type":"r{inner}"}},{{"name":"b","type":"r{inner}"}}]}}}}"#
        ));
    }
    let exponential = format!(r#"{{"type":"record","name":"root","fields":[{fields}]}}"#);
    assert!(matches!(AvroType::parse(&exponential), Err(Error::Corrupt { .. })));
    for level in 1..2000 {
        let inner = level - 1;
        chain.push_str(&format!(
            r#",{{"name":"f{level}","type":{{"type":"record","name":"r{level}","fields":[{{"name":"a","type":"r{inner}"}}]}}}}"#
        ));
    }
    let deep = format!(r#"{{"type":"record","name":"root","fields":[{chain}]}}"#);
    assert!(matches!(AvroType::parse(&deep), Err(Error::Corrupt { .. })));
}

#[test]
fn count_beyond_the_data_is_refused_and_empty_items_take_no_memory() {
    let mut bytes = Vec::new();
    put_long(&mut bytes, i64::MAX);
    let longs = AvroType::parse(r#"{"type":"array","items":"long"}"#).unwrap();
    assert_eq!(skip(&mut Cursor::new(&bytes), &longs), Err(Malformed::Length));
    put_long(&mut bytes, 0);
    let nulls = AvroType::parse(r#"{"type":"array","items":"null"}"#).unwrap();
    assert_eq!(skip(&mut Cursor::new(&bytes), &nulls), Ok(()));
}

#[test]
fn integers_drop_the_bits_of_their_last_byte_that_overflow() {
    // As `BinaryDecoder` of Avro's Java library decodes these bytes.
    let ten = |last: u8| [[0xff; 9].as_slice(), &[last]].concat();
    for last in [1, 3, 0x7f] {
        assert_eq!(Cursor::new(&ten(last)).long(), Ok(i64::MIN), "{last}");
    }
    for last in [0, 2, 0x7e] {
        assert_eq!(Cursor::new(&ten(last)).long(), Ok(i64::MIN / 2), "{last}");
    }
    for last in [0x0f, 0x1f, 0x7f] {
        let bytes = [0xff, 0xff, 0xff, 0xff, last];
        assert_eq!(Cursor::new(&bytes).int(), Ok(i32::MIN), "{last}");
    }
    assert_eq!(Cursor::new(&[0x80, 0x80, 0x80, 0x80, 0x40]).int(), Ok(0));
}

#[test]
fn integers_of_too_many_bytes_are_refused() {
    assert_eq!(Cursor::new(&[0xff; 11]).long(), Err(Malformed::VarintTooLong));
    assert_eq!(Cursor::new(&[0x80]).long(), Err(Malformed::EndOfData));
    let six = [0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(Cursor::new(&six).int(), Err(Malformed::IntOutOfRange));
    // A long is no int with bits to drop.
    assert_eq!(
        Cursor::new(&[0x80, 0x80, 0x80, 0x80, 0x40]).long_as_int(),
        Err(Malformed::IntOutOfRange)
    );
}

#[test]
fn lengths_whose_last_byte_overflows_are_checked_after_they_wrapped() {
    let length = [[0x80; 9].as_slice(), &[0x02], &[1; 4]].concat();
    assert_eq!(Cursor::new(&length).bytes(), Ok(&[][..]));
    let negative = [[0xff; 9].as_slice(), &[0x03], &[1; 4]].concat();
    assert_eq!(Cursor::new(&negative).bytes(), Err(Malformed::Length));
}

proptest! {
    #[test]
    fn integers_of_every_length_survive(value in any::<i64>(), shift in 0_u32..64, tail in 0_usize..9) {
        let value = value >> shift;
        let mut bytes = Vec::new();
        put_long(&mut bytes, value);
        // Eight bytes can be read together only if enough bytes follow.
        bytes.extend(std::iter::repeat_n(0xff, tail));
        let mut cursor = Cursor::new(&bytes);
        prop_assert_eq!(cursor.long(), Ok(value));
        prop_assert_eq!(cursor.remaining(), tail);
    }

    #[test]
    fn arbitrary_text_is_no_reason_to_panic(text in r#"[\[\]{}:,"a-z0-9 ]{0,60}"#) {
        let _ = AvroType::parse(&text);
    }

    #[test]
    fn damaged_containers_never_panic(
        codec in proptest::sample::select(CODECS.to_vec()),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = container(codec, 3);
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Ok(container) = Container::parse(&bytes) {
            let mut blocks = container.blocks();
            while let Ok(Some(_)) = blocks.next_block() {}
        }
    }
}

proptest! {
    #[test]
    fn skipping_integers_is_reading_them(
        values in proptest::collection::vec((any::<i64>(), 0_u32..64), 0..40),
        tail in 0_usize..20,
    ) {
        let mut bytes = Vec::new();
        for (value, shift) in &values {
            put_long(&mut bytes, value >> shift);
        }
        bytes.extend(std::iter::repeat_n(1, tail));
        let mut cursor = Cursor::new(&bytes);
        prop_assert_eq!(cursor.skip_varints(values.len()), Ok(()));
        prop_assert_eq!(cursor.remaining(), tail);
        prop_assert_eq!(cursor.skip_varints(tail + 1), Err(Malformed::EndOfData));
    }
}

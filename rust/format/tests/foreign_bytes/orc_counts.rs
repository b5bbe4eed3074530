//! Ends of small ORC files that list far more than their columns and stripes.

/// Numbers of the compressions of ORC.
const UNCOMPRESSED: u64 = 0;
const ZSTANDARD: u64 = 5;
const CHUNK_BYTES: usize = (1 << 23) - 1;
/// Chunks of a footer that decompress to less than 256 MiB together.
const CHUNKS: usize = 31;

/// The memory that an uncompressed and a compressed file may use for each of its bytes.
const PLAIN: usize = 4;
const COMPRESSED: usize = 4 * 1040;

/// Files by what they list too much of, with the memory that each may use for a byte.
pub(crate) fn ends() -> Vec<(&'static str, usize, Vec<u8>)> {
    let types = message(4, &[]);
    let stripes = message(3, &[]);
    let root = message(4, &[varint(8), varint(12)].concat());
    let children = |count: usize| {
        let children = vec![1; count];
        message(4, &[varint(8), varint(12), message(2, &children)].concat())
    };
    let buckets = |count: usize| {
        let counts = message(1, &vec![1; count]);
        let column = message(5, &counts);
        message(1, &[message(1, &[]), message(1, &column)].concat())
    };
    let boolean =
        [message(4, &[varint(8), varint(12), message(2, &[1]), message(3, b"a")].concat())];
    let boolean = [boolean.concat(), message(4, &[])].concat();
    vec![
        ("empty types", PLAIN, end(UNCOMPRESSED, &[], &types.repeat(1 << 19))),
        ("empty stripes", PLAIN, end(UNCOMPRESSED, &[], &[root, stripes.repeat(1 << 19)].concat())),
        ("children of one type", PLAIN, end(UNCOMPRESSED, &[], &children(1 << 22))),
        ("compressed empty types", COMPRESSED, end(ZSTANDARD, &[], &compressed(&types))),
        ("compressed empty stripes", COMPRESSED, end(ZSTANDARD, &[], &compressed(&stripes))),
        ("buckets of one column", PLAIN, end(UNCOMPRESSED, &buckets(1 << 22), &boolean)),
        (
            "statistics of stripes",
            PLAIN,
            end(UNCOMPRESSED, &message(1, &[]).repeat(1 << 19), &boolean),
        ),
    ]
}

/// Chunks of one message over and over.
fn compressed(message: &[u8]) -> Vec<u8> {
    let chunk = zstd::bulk::compress(&message.repeat(CHUNK_BYTES / message.len()), 3).unwrap();
    let header = (chunk.len() << 1).to_le_bytes();
    [&header[..3], &chunk].concat().repeat(CHUNKS)
}

/// The magic, the statistics of stripes, the footer and the postscript of a file without rows.
fn end(compression: u64, metadata: &[u8], footer: &[u8]) -> Vec<u8> {
    let number = |field: u64, value: u64| [varint(field << 3), varint(value)].concat();
    let postscript = [
        number(1, footer.len() as u64),
        number(2, compression),
        number(3, CHUNK_BYTES as u64),
        number(5, metadata.len() as u64),
        number(6, 9),
        message(8000, b"ORC"),
    ];
    let postscript = postscript.concat();
    let length = [u8::try_from(postscript.len()).unwrap()];
    [b"ORC", metadata, footer, &postscript, &length].concat()
}

/// A field of length-delimited bytes.
fn message(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

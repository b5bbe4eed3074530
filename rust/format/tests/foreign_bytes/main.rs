//! The fuzz targets, run for a bounded time: over the committed corpus and over mutations of it that
//! a seed decides, each within its share of memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

mod mutation;
mod orc_counts;
#[path = "../../../fuzz/src/targets.rs"]
#[allow(unreachable_pub, reason = "the fuzzers share it")]
mod targets;

use std::path::{Path, PathBuf};

use mutation::Mutator;
use peak_alloc::PeakAlloc;
use targets::{TARGETS, Target};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Mutations of each file of a corpus.
const ROUNDS: u64 = 300;

/// The most memory of a decoder: a fixed number of bytes, and a number of bytes for each byte of the input.
///
/// A file's block may decompress to 1,040 times its size, and a record of a few bytes has some
/// hundred in its columns. Text is not compressed.
fn share(target: &str) -> (usize, usize) {
    if target.ends_with("_json") || target == "single_value" {
        (1 << 16, 512)
    } else {
        (4 << 20, 16 * 1040)
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The corpus of a target, in the order of the files' names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut folders = vec![repository().join("rust/fuzz/corpus").join(target)];
    if ["container", "manifest", "manifest_list"].contains(&target) {
        folders.push(repository().join("tests/golden/manifests"));
    }
    // Where there is no such folder, there is no such file.
    let found = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut files: Vec<PathBuf> = found.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Runs a target and returns by how many bytes its use of memory rose.
fn run(target: Target, input: &[u8]) -> usize {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    target(input);
    MEMORY.peak_usage().saturating_sub(before)
}

// One test, since memory is counted for the whole process.
#[test]
fn decoders_return_within_their_memory_limit_for_any_bytes() {
    for (name, target) in TARGETS {
        let corpus = corpus(name);
        let (free, for_each) = share(name);
        assert!(!corpus.is_empty(), "{name} has no corpus");
        let mut mutator = Mutator::new(0xf10e);
        for (index, file) in corpus.iter().enumerate() {
            for round in 0..=ROUNDS {
                let input = if round == 0 {
                    file.clone()
                } else {
                    let other = mutator.below(corpus.len());
                    mutator.mutated(file, &corpus[other])
                };
                let outcome = std::panic::catch_unwind(|| run(target, &input));
                let used = outcome.unwrap_or_else(|_| {
                    panic!("{name}, file {index}, round {round}: {}", hexadecimal(&input))
                });
                assert!(
                    used <= free + for_each * input.len(),
                    "{name} used {used} bytes for {}: {}",
                    input.len(),
                    hexadecimal(&input)
                );
            }
        }
    }
    for (what, for_each, end) in orc_counts::ends() {
        let used = run(targets::orc_end, &end);
        let allowed = (16 << 20) + for_each * end.len();
        assert!(used <= allowed, "an ORC file of {} bytes with {what} used {used}", end.len());
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

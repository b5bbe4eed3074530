//! Decoding one manifest on several threads, in runs of its blocks.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join_all;
use icefloe_format::avro::{BlockRun, Header};
use icefloe_format::codec::Codec;

use crate::error::Result;
use crate::runtime::default_threads;
use crate::runtime::executor::compute;

const TASK: &str = "decode a manifest";

/// The least compressed bytes of a run: starting a smaller one costs more than it saves.
const SMALLEST_RUN: usize = 1 << 15;
/// The least bytes of a run of uncompressed blocks.
const SMALLEST_PLAIN_RUN: usize = 1 << 17;

/// Return the number of runs to cut each of `manifests` into, so that all threads have work: 1 if there are at least as
/// many manifests as threads.
pub(crate) fn runs_per_manifest(manifests: usize) -> usize {
    default_threads().div_ceil(manifests.max(1))
}

/// Decode a manifest in at most `most` runs of its blocks, in order. A small manifest is decoded at once, with `None` as
/// the run.
///
/// # Errors
/// The error of decoding all blocks at once, which is repeated if a run fails: the error is the first in the manifest,
/// however the manifest was cut.
pub(crate) async fn decode_in_runs<T: Send + 'static>(
    bytes: Bytes,
    most: usize,
    decode: impl Fn(&[u8], Option<&BlockRun>) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let decode = Arc::new(decode);
    let runs = if most > 1 { runs(&bytes, most) } else { vec![] };
    if runs.len() > 1 {
        let parts = try_join_all(runs.into_iter().map(|run| {
            let (bytes, decode) = (bytes.clone(), Arc::clone(&decode));
            compute(TASK, move || decode(&bytes, Some(&run)))
        }));
        if let Ok(parts) = parts.await {
            return Ok(parts);
        }
    }
    Ok(vec![compute(TASK, move || decode(&bytes, None)).await?])
}

/// Return the runs of a manifest; none for bytes that are not a container, whose decoding reports why.
fn runs(bytes: &[u8], most: usize) -> Vec<BlockRun> {
    let Ok(container) = Header::parse(bytes) else { return vec![] };
    let least = if container.codec() == Codec::Null { SMALLEST_PLAIN_RUN } else { SMALLEST_RUN };
    container.runs(most.min(bytes.len() / least))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use icefloe_format::Error as FormatError;
    use icefloe_format::avro::ContainerWriter;

    use super::*;
    use crate::error::Error;
    use crate::runtime::block_on;

    /// Return a container of records that are `length` bytes each.
    fn container(records: usize, length: usize) -> Bytes {
        let mut writer = ContainerWriter::new("\"bytes\"", &[], Codec::Null, [5; 16]);
        for _ in 0..records {
            let encoded = vec![0; length];
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(&encoded);
                Ok(())
            };
            writer.record(write).unwrap();
        }
        writer.finish().unwrap().into()
    }

    fn counted(bytes: &[u8], run: Option<&BlockRun>) -> Result<Vec<u64>> {
        let container = Header::parse(bytes)?;
        let mut blocks = run.map_or_else(|| container.blocks(), |run| container.blocks_of(run));
        let mut offsets = vec![];
        while let Some(block) = blocks.next_block()? {
            offsets.push(block.offset);
        }
        Ok(offsets)
    }

    #[test]
    fn runs_are_in_order_and_hold_every_block() {
        let bytes = container(10, 1 << 17);
        let whole = counted(&bytes, None).unwrap();
        let parts = block_on(decode_in_runs(bytes.clone(), 3, counted)).unwrap();
        assert_eq!((parts.len(), parts.concat()), (3, whole.clone()));
        assert_eq!(block_on(decode_in_runs(bytes, 1, counted)).unwrap(), [whole]);
    }

    #[test]
    fn small_manifest_is_decoded_in_one_run() {
        let parts = block_on(decode_in_runs(container(3, 1 << 16), 8, counted)).unwrap();
        assert_eq!(parts.len(), 1);
    }

    #[test]
    fn parallel_error_equals_the_error_of_the_whole_manifest() {
        let decode = |_: &[u8], run: Option<&BlockRun>| -> Result<()> {
            let reason = if run.is_some() { "of a run" } else { "of the whole" };
            Err(FormatError::corrupt("manifest", reason).into())
        };
        let error = block_on(decode_in_runs(container(10, 1 << 17), 4, decode)).unwrap_err();
        assert!(matches!(error, Error::Format(found) if found.to_string().contains("the whole")));
    }
}

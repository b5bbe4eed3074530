//! One manifest decoded on several threads.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join_all;
use icefloe_format::avro::{BlockRun, Header};
use icefloe_format::codec::Codec;

use crate::error::Result;
use crate::runtime::default_threads;
use crate::runtime::executor::compute;

const TASK: &str = "decode a manifest";

/// Compressed bytes that a run has at least: for fewer, starting it costs more than it saves.
const SMALLEST_RUN: usize = 1 << 15;
/// The same of blocks that are not compressed.
const SMALLEST_PLAIN_RUN: usize = 1 << 17;

/// How many runs each of so many manifests is cut into, so that all threads have something to do;
/// as many manifests as threads are not cut.
pub(crate) fn runs_of_each(manifests: usize) -> usize {
    default_threads().div_ceil(manifests.max(1))
}

/// What `decode` makes of each of at most `most` runs of a manifest's blocks, in order; of all of
/// them at once, `None`, if the manifest is small.
///
/// # Errors
/// What `decode` says of all blocks, which is asked if it fails for a run: what is wrong first in the
/// manifest is what it says, however the manifest was cut.
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

/// None for what is no container: decoding it says why.
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

    /// Records of so many bytes, written as one `bytes` each.
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
    fn parts_come_in_order_and_hold_every_block() {
        let bytes = container(10, 1 << 17);
        let whole = counted(&bytes, None).unwrap();
        let parts = block_on(decode_in_runs(bytes.clone(), 3, counted)).unwrap();
        assert_eq!((parts.len(), parts.concat()), (3, whole.clone()));
        assert_eq!(block_on(decode_in_runs(bytes, 1, counted)).unwrap(), [whole]);
    }

    #[test]
    fn a_small_manifest_is_one_part() {
        let parts = block_on(decode_in_runs(container(3, 1 << 16), 8, counted)).unwrap();
        assert_eq!(parts.len(), 1);
    }

    #[test]
    fn the_whole_says_what_is_wrong() {
        let decode = |_: &[u8], run: Option<&BlockRun>| -> Result<()> {
            let reason = if run.is_some() { "of a run" } else { "of the whole" };
            Err(FormatError::corrupt("manifest", reason).into())
        };
        let error = block_on(decode_in_runs(container(10, 1 << 17), 4, decode)).unwrap_err();
        assert!(matches!(error, Error::Format(found) if found.to_string().contains("the whole")));
    }
}

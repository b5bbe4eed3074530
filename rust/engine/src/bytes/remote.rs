//! The bytes of a remote data file, read in few and large requests.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use object_store::OBJECT_STORE_COALESCE_DEFAULT as NEAR_BYTES;
use parquet::errors::{ParquetError, Result};

use super::fetch::Fetch;
use crate::error::Error;
use crate::runtime::block_on;
use crate::store::FileIo;

/// Bytes of the first request, at the end of the file: the footer and page indexes of most files, and all of small
/// files.
pub(crate) const TAIL_BYTES: u64 = 256 << 10;
/// The least bytes of a request for a range that is in no stage.
const BLOCK_BYTES: u64 = 64 << 10;

/// A data file of a remote store.
#[derive(Debug, Clone)]
pub(crate) struct RemoteFile {
    io: FileIo,
    location: Arc<str>,
    length: u64,
    tail: Bytes,
    stages: Arc<Vec<Stage>>,
    failure: Arc<OnceLock<Error>>,
}

/// Ranges that are read in one request, ahead of time or when the first of them is needed.
#[derive(Debug)]
struct Stage {
    /// In the order of their starts.
    ranges: Vec<Range<u64>>,
    requested: Mutex<Requested>,
    bytes: OnceLock<crate::Result<Vec<Bytes>>>,
}

/// Whether the bytes of a stage have been requested.
#[derive(Debug, Default)]
enum Requested {
    #[default]
    Not,
    Ahead(Fetch<Vec<Bytes>>),
    /// By the thread that needs them.
    Now,
}

impl RemoteFile {
    pub(crate) fn open(io: &FileIo, location: &str) -> crate::Result<Self> {
        block_on(Self::opened(io.clone(), location.to_owned()))
    }

    /// Read the end of a file.
    pub(crate) async fn opened(io: FileIo, location: String) -> crate::Result<Self> {
        let (tail, length) = io.tail(&location, TAIL_BYTES).await?;
        if tail.len() as u64 > length {
            let reason = format!("expected at most {length} bytes, got {}", tail.len());
            return Err(Error::Storage { location, reason });
        }
        Ok(Self { tail, ..Self::of_length(io, location.into(), length) })
    }

    /// Return a file of a known length. No byte of it is requested before a read.
    pub(crate) fn of_length(io: FileIo, location: Arc<str>, length: u64) -> Self {
        let (tail, stages, failure) = Default::default();
        Self { io, location, length, tail, stages, failure }
    }

    /// Return the file with the stages to read of it.
    pub(crate) fn with_stages(&self, stages: Vec<Vec<Range<u64>>>) -> Self {
        let tail_start = self.tail_start();
        let stages = stages.into_iter().map(|mut ranges| {
            ranges.retain(|range| range.start < tail_start && range.end <= self.length);
            ranges.sort_unstable_by_key(|range| range.start);
            Stage { ranges, requested: Mutex::default(), bytes: OnceLock::new() }
        });
        Self { stages: Arc::new(stages.collect()), failure: Arc::default(), ..self.clone() }
    }

    /// Return the file sharing the bytes that were read, with a failure of its own.
    pub(crate) fn with_own_failure(&self) -> Self {
        Self { failure: Arc::default(), ..self.clone() }
    }

    /// Request the bytes of the first stage, unless they are more than `most`. Return the number of bytes that were not
    /// requested before.
    pub(crate) fn begin(&self, most: usize) -> Option<usize> {
        let Some(stage) = self.stages.first() else { return Some(0) };
        let mut requested = stage.requested.lock().unwrap_or_else(PoisonError::into_inner);
        if stage.ranges.is_empty() || !matches!(*requested, Requested::Not) {
            return Some(0);
        }
        let bytes = usize::try_from(fetched_bytes(&stage.ranges)).unwrap_or(usize::MAX);
        if bytes > most {
            return None;
        }
        let (io, location, ranges) = (self.io.clone(), self.location.clone(), stage.ranges.clone());
        // If the request cannot be started, the thread that needs the bytes requests them.
        if let Ok(fetch) = Fetch::start(async move { io.read_ranges(&location, &ranges).await }) {
            *requested = Requested::Ahead(fetch);
        }
        Some(bytes)
    }

    /// Return the first storage error of this file and its clones: a decoder may pass on only its text.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Return the bytes of a range within the file.
    pub(crate) fn bytes(&self, range: Range<u64>) -> Result<Bytes> {
        if let Some((bytes, start)) = self.in_memory(range.start)?
            && range.end - start <= bytes.len() as u64
        {
            return Ok(bytes.slice(within(range.start - start)..within(range.end - start)));
        }
        self.read(range)
    }

    /// Return a sequential reader from an offset.
    pub(crate) fn reader_from(&self, start: u64) -> RemoteReader {
        RemoteReader { file: self.clone(), offset: start, block: Bytes::new() }
    }

    /// Return the bytes from an offset on that are in memory, or else of one request; empty at the end of the file.
    fn block_at(&self, start: u64) -> Result<Bytes> {
        match self.in_memory(start)? {
            Some((bytes, from)) => Ok(bytes.slice(within(start - from)..)),
            None if start >= self.length => Ok(Bytes::new()),
            None => self.read(start..self.length.min(start.saturating_add(BLOCK_BYTES))),
        }
    }

    /// Return the bytes of the tail or stage that contain an offset, and the offset of the first of them.
    fn in_memory(&self, offset: u64) -> Result<Option<(Bytes, u64)>> {
        let tail_start = self.tail_start();
        if (tail_start..self.length).contains(&offset) {
            return Ok(Some((self.tail.clone(), tail_start)));
        }
        for stage in self.stages.iter() {
            let before = stage.ranges.partition_point(|range| range.start <= offset);
            let Some(index) = before.checked_sub(1) else { continue };
            let start = match stage.ranges.get(index) {
                Some(range) if range.contains(&offset) => range.start,
                _ => continue,
            };
            let bytes = stage.bytes.get_or_init(|| self.fetched(stage)).as_ref();
            let bytes = bytes.map_err(|error| self.failed(error.clone()))?;
            return Ok(bytes.get(index).map(|found| (found.clone(), start)));
        }
        Ok(None)
    }

    fn fetched(&self, stage: &Stage) -> crate::Result<Vec<Bytes>> {
        let mut requested = stage.requested.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *requested, Requested::Now);
        drop(requested);
        let Requested::Ahead(fetch) = before else { return self.fetch(&stage.ranges) };
        fetch.wait()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let found = self.fetch(std::slice::from_ref(&range));
        let mut found = found.map_err(|error| self.failed(error))?;
        Ok(found.pop().unwrap_or_default())
    }

    fn fetch(&self, ranges: &[Range<u64>]) -> crate::Result<Vec<Bytes>> {
        block_on(self.io.read_ranges(&self.location, ranges))
    }

    fn failed(&self, error: Error) -> ParquetError {
        ParquetError::External(Box::new(self.failure.get_or_init(|| error).clone()))
    }

    fn tail_start(&self) -> u64 {
        self.length - self.tail.len() as u64
    }
}

/// A sequential reader from an offset, in blocks where the range is in no stage.
#[derive(Debug)]
pub(crate) struct RemoteReader {
    file: RemoteFile,
    offset: u64,
    block: Bytes,
}

impl RemoteReader {
    /// Return the next bytes, which stay unread: at least one unless the file ends.
    pub(super) fn peek(&mut self) -> io::Result<&[u8]> {
        if self.block.is_empty() {
            self.block = self.file.block_at(self.offset).map_err(as_io_error)?;
        }
        Ok(&self.block)
    }
}

impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.peek()?.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.block.split_to(count));
        self.offset += count as u64;
        Ok(count)
    }
}

/// Return a read error as the decoder passes it on.
fn as_io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => io::Error::other(source),
        error => io::Error::other(error),
    }
}

/// Return the bytes of a request for ranges in the order of their starts, including the gaps between near ranges.
fn fetched_bytes(ranges: &[Range<u64>]) -> u64 {
    let (mut total, mut end) = (0, None);
    for range in ranges {
        let from = end.filter(|end| range.start.saturating_sub(*end) <= NEAR_BYTES);
        let from = from.unwrap_or(range.start);
        total += range.end.saturating_sub(from);
        end = end.max(Some(range.end));
    }
    total
}

/// Return an offset within bytes that are in memory.
fn within(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Return the address of a server of one file that answers range requests.
    fn serve(content: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/file", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let lines = BufReader::new(&connection).lines().map(|line| line.unwrap());
                let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
                let range = lines.iter().find_map(|line| line.split_once("bytes=")).unwrap().1;
                let (first, last) = range.trim().split_once('-').unwrap();
                let last: usize = last.parse().unwrap();
                let part = match first.parse::<usize>() {
                    Ok(first) => first..last + 1,
                    Err(_) => content.len() - last..content.len(),
                };
                let head = format!(
                    "HTTP/1.1 206 So\r\nContent-Length: {}\r\nContent-Range: bytes {}-{}/{}\r\n\
                     Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nConnection: close\r\n\r\n",
                    part.len(),
                    part.start,
                    part.end - 1,
                    content.len()
                );
                connection.write_all(head.as_bytes()).unwrap();
                connection.write_all(&content[part]).unwrap();
            }
        });
        address
    }

    #[test]
    fn gaps_between_near_ranges_are_fetched() {
        let far = 3 * NEAR_BYTES;
        assert_eq!(fetched_bytes(&[]), 0);
        assert_eq!(fetched_bytes(&[10..20, 25..30, 27..28]), 20);
        assert_eq!(fetched_bytes(&[10..20, far..far + 5, far + 7..far + 9]), 19);
    }

    #[test]
    fn sequential_reads_continue_after_the_first_block() {
        let content: Vec<u8> = (0..500_000_u32).map(|n| (n % 251) as u8).collect();
        let io = FileIo::new(std::iter::empty());
        let file = RemoteFile::open(&io, &serve(content.clone())).unwrap();
        let mut found = Vec::new();
        file.reader_from(1_000).read_to_end(&mut found).unwrap();
        assert!(found == content[1_000..]);
    }
}

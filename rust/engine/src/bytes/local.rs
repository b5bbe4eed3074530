//! The bytes of a local data file: small files read at once, large ones range by range.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::store::open_file;

/// Buffer for a page header with statistics; longer headers are read in several steps.
const HEADER_BUFFER_BYTES: usize = 512;
/// Files up to this size are read when they are opened, which costs less than several reads.
const WHOLE_BYTES: u64 = 64 << 10;
/// The least size of the page buffer. Most pages fit, so the buffer is rarely reallocated.
const SPARE_BYTES: usize = 1 << 20;

/// An open local file.
#[derive(Debug, Clone)]
pub(crate) struct LocalFile {
    content: Content,
    length: u64,
    /// The buffer for the next page, if pages are only read to be decompressed.
    spare: Option<Arc<Mutex<Vec<u8>>>>,
}

#[derive(Debug, Clone)]
enum Content {
    Whole(Bytes),
    Parts(Arc<File>),
}

impl LocalFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open_file(path)?;
        let length = file.metadata()?.len();
        let content = match usize::try_from(length) {
            Ok(size) if length <= WHOLE_BYTES => {
                let mut whole = vec![0; size];
                read_exact_at(&file, &mut whole, 0)?;
                Content::Whole(whole.into())
            }
            _ => Content::Parts(Arc::new(file)),
        };
        Ok(Self { content, length, spare: None })
    }

    /// Return the file for one decoding thread. With `passing` the thread drops the bytes of a read before the next
    /// read.
    pub(crate) fn for_thread(&self, passing: bool) -> Self {
        Self { spare: passing.then(Arc::default), ..self.clone() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    pub(crate) fn reader_from(&self, start: u64) -> BufReader<FromOffset> {
        let reader = FromOffset { content: self.content.clone(), offset: start };
        BufReader::with_capacity(HEADER_BUFFER_BYTES, reader)
    }

    /// Return the bytes of a range within the file.
    pub(crate) fn bytes(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let file = match &self.content {
            Content::Whole(whole) => return Ok(slice(whole, start, length)),
            Content::Parts(file) => file,
        };
        let Some(spare) = &self.spare else {
            let mut buffer = vec![0; length];
            read_exact_at(file, &mut buffer, start)?;
            return Ok(buffer.into());
        };
        let mut buffer = std::mem::take(&mut *spare.lock().unwrap_or_else(PoisonError::into_inner));
        if buffer.len() < length {
            buffer.reserve(length.max(SPARE_BYTES) - buffer.len());
            buffer.resize(length, 0);
        }
        let mut lent = Lent { buffer, length, spare: Arc::clone(spare) };
        read_exact_at(file, lent.buffer.get_mut(..length).unwrap_or_default(), start)?;
        Ok(Bytes::from_owner(lent))
    }
}

fn slice(whole: &Bytes, start: u64, length: usize) -> Bytes {
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(whole.len());
    whole.slice(start..start.saturating_add(length).min(whole.len()))
}

/// A buffer lent to a decoder; returned when the decoder drops it.
struct Lent {
    buffer: Vec<u8>,
    length: usize,
    spare: Arc<Mutex<Vec<u8>>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        *spare = std::mem::take(&mut self.buffer);
    }
}

/// A sequential reader from an offset.
#[derive(Debug)]
pub(crate) struct FromOffset {
    content: Content,
    offset: u64,
}

impl Read for FromOffset {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &self.content {
            Content::Whole(whole) => {
                slice(whole, self.offset, buffer.len()).as_ref().read(buffer)?
            }
            Content::Parts(file) => read_at(file, buffer, self.offset)?,
        };
        self.offset += read as u64;
        Ok(read)
    }
}

fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = buffer.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

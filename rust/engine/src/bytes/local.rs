//! The bytes of a data file of this machine: pages read one by one, small files at once.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Enough for a page header with statistics; a longer one is read in several steps.
const HEADER_BUFFER_BYTES: usize = 512;
/// Files up to this size are read when they are opened: that costs less than to look for their parts.
const WHOLE_BYTES: u64 = 64 << 10;
/// Room for most pages: a buffer that grew with them would leave a trail of smaller ones.
const SPARE_BYTES: usize = 1 << 20;

/// An open file of this machine.
#[derive(Debug, Clone)]
pub(crate) struct LocalFile {
    content: Content,
    length: u64,
    /// Where the next page is read to, if pages are decompressed from there and then no longer needed.
    spare: Option<Arc<Mutex<Vec<u8>>>>,
}

#[derive(Debug, Clone)]
enum Content {
    Whole(Bytes),
    Parts(Arc<File>),
}

impl LocalFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
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

    /// The same file for one decoding thread. With `passing` what is read is dropped before more is read.
    pub(crate) fn again(&self, passing: bool) -> Self {
        Self { spare: passing.then(Arc::default), ..self.clone() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    pub(crate) fn read_on(&self, start: u64) -> BufReader<FromOffset> {
        let reader = FromOffset { content: self.content.clone(), offset: start };
        BufReader::with_capacity(HEADER_BUFFER_BYTES, reader)
    }

    /// Bytes that lie within the file.
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

/// A buffer on its way through a decoder.
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

/// Reads on from an offset.
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

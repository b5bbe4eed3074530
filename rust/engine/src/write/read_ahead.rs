//! Reading that overlaps with writing: while a thread writes a batch, the calling thread reads the next one.

use std::iter::once;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, scope};

use crate::error::{Error, Result};
use crate::runtime::catch_panic;
use crate::runtime::executor::is_working;

const TASK: &str = "write rows";

/// Write all batches of a source in their order.
///
/// A single batch is written here. Of several, a thread of their own writes, and this one reads: a source may belong to the
/// thread that made it, as database cursors do. At most three batches are in memory: one that is written, and the next two.
///
/// # Errors
/// The first error of `write`, otherwise the error of the source, which is not read after either; [`Error::Internal`] if `write`
/// panics, and if the operating system starts no threads.
pub(super) fn write_each<T: Send>(
    mut source: impl Iterator<Item = Result<T>>,
    mut write: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let Some(first) = source.next().transpose()? else { return Ok(()) };
    let Some(second) = source.next().transpose()? else { return write(first) };
    let mut batches = once(Ok(first)).chain(once(Ok(second))).chain(source);
    if is_working() {
        return batches.try_for_each(|batch| write(batch?));
    }
    scope(|scope| {
        let (sender, receiver) = sync_channel(1);
        let writer = Builder::new()
            .name("icefloe-write".into())
            .spawn_scoped(scope, move || write_received(&receiver, write))
            .map_err(|error| Error::internal(TASK, error.to_string()))?;
        let read = batches.try_for_each(|batch| match batch {
            // Only a thread that failed receives no more.
            Ok(batch) => sender.send(batch).map_err(|_| None),
            Err(error) => Err(Some(error)),
        });
        drop(sender);
        let written = writer.join().unwrap_or_else(|_| Err(Error::internal(TASK, "a panic")));
        written.and(read.or_else(|error| error.map_or(Ok(()), Err)))
    })
}

fn write_received<T>(batches: &Receiver<T>, mut write: impl FnMut(T) -> Result<()>) -> Result<()> {
    catch_panic(|| batches.iter().try_for_each(&mut write))
        .unwrap_or_else(|text| Err(Error::internal(TASK, text)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::current;
    use std::time::Duration;

    use super::*;

    fn failed(text: &str) -> Error {
        Error::internal("test", text)
    }

    #[test]
    fn batches_are_written_in_their_order() {
        for count in [0, 1, 2, 3, 100] {
            let mut written = Vec::new();
            write_each((0..count).map(Ok), |batch| {
                written.push(batch);
                Ok(())
            })
            .unwrap();
            assert_eq!(written, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_next_batch_is_read_here_while_one_is_written() {
        let here = current().id();
        let (sender, receiver) = channel();
        let source = (0..4).map(|batch| {
            assert_eq!(current().id(), here);
            sender.send(batch).unwrap();
            Ok(batch)
        });
        let mut known = 0;
        write_each(source, move |batch| {
            // The writing of a batch ends when the source has given the one after the next.
            while known < 3.min(batch + 2) {
                known = receiver.recv_timeout(Duration::from_mins(1)).unwrap();
            }
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn the_source_is_not_read_after_an_error_of_the_writer() {
        let mut read = 0;
        let source = (0..).map(|batch| {
            read += 1;
            Ok(batch)
        });
        let error = write_each(source, |batch| match batch {
            5 => Err(failed("five")),
            _ => Ok(()),
        });
        assert!(error.unwrap_err().to_string().contains("five"));
        assert!(read <= 8, "{read}");
    }

    #[test]
    fn rows_before_an_error_of_the_source_are_written_and_the_error_is_returned() {
        let mut written = Vec::new();
        let source = (0..9).map(|batch| if batch == 4 { Err(failed("source")) } else { Ok(batch) });
        let error = write_each(source, |batch| {
            written.push(batch);
            Ok(())
        });
        assert!(error.unwrap_err().to_string().contains("source"));
        assert_eq!(written, [0, 1, 2, 3]);
    }

    #[test]
    fn a_panic_of_the_writer_is_an_error() {
        let error = write_each((0..9).map(Ok), |batch| {
            assert!(batch < 3, "three");
            Ok(())
        });
        assert!(error.unwrap_err().to_string().contains("three"));
    }
}

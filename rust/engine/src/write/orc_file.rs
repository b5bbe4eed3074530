//! An ORC file, from its first batch to its footer.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::SchemaRef;
use icefloe_format::Error as FormatError;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::orc::{Footer, POSTSCRIPT_BYTES, Postscript};
use icefloe_format::spec::{Schema, StructType};

use super::closed_file::ClosedFile;
use super::orc_encoder::{OrcSettings, OrcWriter, orc_encoder};
use super::orc_instants::check_instants;
use super::orc_nulls::with_nulls_below;
use super::orc_options::OrcOptions;
use super::orc_schema::{column_numbers, orc_schema};
use super::output::{Output, Outputs, write_failure};
use super::value_metrics::ValueMetrics;
use crate::error::{Error, Result};

/// Bytes at the end of a file that are remembered to find the stripes in its footer.
const TAIL_BYTES: usize = 1 << 20;

/// The schema and settings that the ORC files of one task share.
#[derive(Debug)]
pub(super) struct OrcShape {
    fields: StructType,
    arrow_schema: SchemaRef,
    settings: OrcSettings,
    modes: MetricsConfig,
    /// Bytes on disk for each byte of the batches, as in the last complete file.
    ratio: Mutex<f64>,
}

impl OrcShape {
    /// Create files of a schema.
    ///
    /// # Errors
    /// `Unsupported` for a column that ORC cannot store, and without an encoder; `InvalidArgument` for a bloom filter
    /// of an unknown column.
    pub(super) fn new(schema: &Schema, options: &OrcOptions, modes: MetricsConfig) -> Result<Self> {
        orc_encoder()?;
        let arrow_schema = orc_schema(schema)?;
        let settings = OrcSettings {
            compression: options.compression.clone(),
            strategy: options.strategy.clone(),
            stripe_bytes: options.stripe_bytes,
            batch_rows: options.batch_rows,
            bloom_columns: column_numbers(&arrow_schema, &options.bloom_columns)?,
            bloom_false_positives: options.bloom_false_positives,
        };
        let fields = StructType { fields: schema.fields().to_vec() };
        Ok(Self { fields, arrow_schema, settings, modes, ratio: Mutex::new(1.0) })
    }

    fn ratio(&self) -> MutexGuard<'_, f64> {
        self.ratio.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The output of a file, shared with its encoder.
#[derive(Debug, Default)]
struct Sink {
    /// `None` after the file is closed or abandoned, and after a failed write.
    output: Option<Output>,
    tail: Vec<u8>,
    failure: Option<Error>,
}

#[derive(Debug, Clone)]
struct SharedSink(Arc<Mutex<Sink>>, Arc<str>);

impl SharedSink {
    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for SharedSink {
    /// Write to the output, or remember why that failed; the bytes that follow are dropped. An encoder never sees the
    /// failure: that of `pyarrow.orc` throws an exception of C++ through Python when it closes a file, which ends the
    /// process.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sink = self.lock();
        let Some(output) = &mut sink.output else { return Ok(bytes.len()) };
        if let Err(error) = output.write_all(bytes) {
            sink.failure = Some(write_failure(&self.1, &error));
            sink.output = None;
            return Ok(bytes.len());
        }
        sink.tail.extend_from_slice(bytes);
        let excess = sink.tail.len().saturating_sub(TAIL_BYTES);
        if excess > TAIL_BYTES {
            sink.tail.drain(..excess);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An ORC file being written.
pub(super) struct OrcFile {
    location: String,
    writer: Box<dyn OrcWriter>,
    sink: SharedSink,
    metrics: ValueMetrics,
    rows: usize,
    /// Bytes of batches so far, and up to the last stripe.
    appended: usize,
    flushed: usize,
    written: u64,
    ratio: f64,
}

impl Drop for OrcFile {
    /// Release the output of an abandoned file now: the encoder may outlive this value.
    fn drop(&mut self) {
        self.sink.lock().output.take();
    }
}

impl OrcFile {
    pub(super) fn create(outputs: &Outputs, location: String, shape: &OrcShape) -> Result<Self> {
        let encoder = orc_encoder()?;
        let output = Some(outputs.create(&location)?);
        let shared = Arc::new(Mutex::new(Sink { output, ..Sink::default() }));
        let sink = SharedSink(shared, Arc::from(location.as_str()));
        let writer = encoder.create(Box::new(sink.clone()), &location, &shape.settings)?;
        Ok(Self {
            location,
            writer,
            sink,
            metrics: ValueMetrics::new(&shape.fields, &shape.modes),
            rows: 0,
            appended: 0,
            flushed: 0,
            written: 0,
            ratio: *shape.ratio(),
        })
    }

    pub(super) fn write(&mut self, shape: &OrcShape, batch: &RecordBatch) -> Result<()> {
        let fields = shape.arrow_schema.fields();
        let columns = batch.columns().iter().zip(fields).map(|(column, field)| {
            check_instants(field.name(), column)?;
            let column = cast(column, field.data_type()).map_err(invalid)?;
            with_nulls_below(&column).map_err(invalid)
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>, FormatError>>()?;
        self.metrics.add(&columns);
        let batch = RecordBatch::try_new(Arc::clone(&shape.arrow_schema), columns);
        let batch = batch.map_err(invalid)?;
        self.rows += batch.num_rows();
        let bytes = batch.columns().iter().map(|column| {
            let data = column.to_data();
            data.get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
        });
        self.appended += bytes.sum::<usize>();
        let outcome = self.writer.write(&batch);
        self.first_failure(outcome)?;
        let written = self.sink.lock().output.as_ref().map_or(0, Output::written);
        if written > self.written {
            (self.written, self.flushed) = (written, self.appended);
        }
        Ok(())
    }

    /// Return the error of the storage, if a write to it has failed, or else the encoder's outcome.
    fn first_failure(&self, outcome: Result<()>) -> Result<()> {
        self.sink.lock().failure.take().map_or(outcome, Err)
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Return the bytes on disk, and the estimated bytes of the open stripe.
    pub(super) fn size_bytes(&self) -> usize {
        let open = (self.appended - self.flushed) as f64 * self.ratio;
        usize::try_from(self.written).unwrap_or(usize::MAX).saturating_add(open as usize)
    }

    /// Return the bytes in memory of the open stripe and of the upload.
    pub(super) fn memory_bytes(&self) -> usize {
        let upload = self.sink.lock().output.as_ref().map_or(0, Output::memory_bytes);
        self.appended - self.flushed + upload
    }

    pub(super) fn close(mut self, shape: &OrcShape) -> Result<ClosedFile> {
        let outcome = self.writer.close();
        self.first_failure(outcome)?;
        let (output, tail) = {
            let mut sink = self.sink.lock();
            (sink.output.take(), std::mem::take(&mut sink.tail))
        };
        let Some(mut output) = output else {
            return Err(Error::internal(
                format!("write {}", self.location),
                "the file was finished before",
            ));
        };
        output.finish()?;
        let size_bytes = output.written();
        *shape.ratio() = size_bytes as f64 / self.appended.max(1) as f64;
        Ok(ClosedFile {
            location: std::mem::take(&mut self.location),
            rows: self.rows,
            size_bytes,
            split_offsets: stripe_offsets(&tail, size_bytes).unwrap_or_default(),
            metrics: std::mem::take(&mut self.metrics).finish(),
        })
    }
}

/// Return the offsets of the stripes, from the last bytes of a file; `None` if the footer is larger.
fn stripe_offsets(tail: &[u8], length: u64) -> Option<Vec<i64>> {
    let end = &tail[tail.len().saturating_sub(POSTSCRIPT_BYTES)..];
    let postscript = Postscript::parse(end, length).ok()?;
    let start = length.checked_sub(tail.len() as u64)?;
    let range = postscript.footer();
    let within = |offset: u64| usize::try_from(offset.checked_sub(start)?).ok();
    let footer = tail.get(within(range.start)?..within(range.end)?)?;
    let footer = Footer::parse(footer, &postscript).ok()??;
    footer.stripes.iter().map(|stripe| i64::try_from(stripe.offset()).ok()).collect()
}

fn invalid(error: arrow_schema::ArrowError) -> FormatError {
    FormatError::invalid("data", error.to_string())
}

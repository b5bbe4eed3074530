//! The columns of an existing file by its own schema.

use arrow_schema::Schema as ArrowSchema;
use icefloe_format::spec::Schema;

use super::opened_file::OpenedFile;
use crate::error::Result;
use crate::resolve::request::FileRequest;
use crate::store::FileIo;
use crate::table::TableContext;

const NO_COLUMNS: &str = r#"{"schema":{"type":"struct","schema-id":0,"fields":[]}}"#;

/// Return the columns of a Parquet, ORC or Avro file as an Arrow schema, with field ids if the file has any.
///
/// # Errors
/// [`crate::Error::Missing`]; `Corrupt` naming the file, also for a file of another format.
pub fn file_schema(io: &FileIo, location: &str) -> Result<ArrowSchema> {
    let context = TableContext::from_json(NO_COLUMNS)?;
    let no_columns = Schema::default();
    let request = FileRequest::whole((io, &context), (location, -1), &no_columns);
    let file = OpenedFile::open(&request, None).map_err(|error| error.at(location))?;
    Ok(file.schema().clone())
}

//! The columns of a row group that can be decoded page by page: no nesting, common types and encodings.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_schema::{DataType, Schema, TimeUnit};
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::file::metadata::ColumnChunkMetaData;

use super::boolean::Boolean;
use super::chunk_pages::{ChunkPages, RowGroup};
use super::column::{Cursor, FlatColumn, TypedColumn};
use super::encoded::Encoded;
use super::fixed::{
    Decimal32, Decimal64, DecimalBytes, Fixed, FixedBytes, Float32, Float64, Int32, Int64, Stored,
};
use super::keyed::Keyed;
use super::texts::{Content, Texts};
use super::value_type::ValueType;
use super::views::Views;

/// The Arrow form of a decoded column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// Whether strings and binaries are views.
    pub(crate) is_viewed: bool,
    /// Whether a column chunk without other than dictionary-encoded pages decodes to a dictionary array.
    pub(crate) may_be_dictionary: bool,
}

/// The columns of a row group, by leaf.
pub(crate) struct FlatGroup {
    columns: BTreeMap<usize, Arc<dyn FlatColumn>>,
}

impl FlatGroup {
    /// Return columns that decode to the types of `schema`, whose strings and binaries are views, in the form of each
    /// leaf. `None` if a leaf is nested or has a type or encoding that only the Parquet crate decodes.
    pub(crate) fn new(
        group: &RowGroup,
        schema: &Schema,
        leaves: &BTreeSet<usize>,
        form: impl Fn(usize) -> Form,
    ) -> Option<Self> {
        let columns = leaves.iter().map(|leaf| {
            let (decoded, form) = (decoded_type(group, schema, *leaf)?, form(*leaf));
            let decoded = match decoded {
                DataType::Utf8View if !form.is_viewed => &DataType::Utf8,
                DataType::BinaryView if !form.is_viewed => &DataType::Binary,
                decoded => decoded,
            };
            Some((*leaf, flat_column(group, *leaf, (decoded, form))?))
        });
        Some(Self { columns: columns.collect::<Option<_>>()? })
    }

    /// Return a cursor before the first row of a leaf.
    pub(crate) fn cursor(&self, leaf: usize) -> Option<Box<dyn Cursor>> {
        self.columns.get(&leaf).map(|column| Arc::clone(column).cursor())
    }
}

/// Return the Arrow type of a leaf. `None` unless the leaf is a top-level column without repetition.
fn decoded_type<'a>(group: &RowGroup, schema: &'a Schema, leaf: usize) -> Option<&'a DataType> {
    let descriptor = group.metadata.file_metadata().schema_descr();
    let column = descriptor.columns().get(leaf)?;
    if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() > 1 {
        return None;
    }
    Some(schema.fields().get(descriptor.get_column_root_idx(leaf))?.data_type())
}

fn flat_column(
    group: &RowGroup,
    leaf: usize,
    (decoded, form): (&DataType, Form),
) -> Option<Arc<dyn FlatColumn>> {
    use DataType as D;
    use PhysicalType as P;
    let chunk = group.metadata.row_groups().get(group.ordinal)?.columns().get(leaf)?;
    if !Encoded::reads(chunk.encodings()) {
        return None;
    }
    let is_dictionary = form.may_be_dictionary && has_only_keys(chunk);
    let of = Column { group, leaf, chunk, decoded, is_dictionary };
    match (chunk.column_type(), decoded) {
        (P::BOOLEAN, D::Boolean) => of.column(Boolean),
        (P::INT32, D::Int32 | D::Date32 | D::Time32(TimeUnit::Millisecond)) => of.fixed::<Int32>(4),
        (P::INT32, D::Decimal128(..)) => of.fixed::<Decimal32>(4),
        (P::INT64, D::Int64 | D::Timestamp(..) | D::Time64(_)) => of.fixed::<Int64>(8),
        (P::INT64, D::Decimal128(..)) => of.fixed::<Decimal64>(8),
        (P::FLOAT, D::Float32) => of.fixed::<Float32>(4),
        (P::DOUBLE, D::Float64) => of.fixed::<Float64>(8),
        (P::FIXED_LEN_BYTE_ARRAY, D::Decimal128(..)) => {
            let width = of.width().filter(|width| *width <= size_of::<i128>())?;
            of.fixed::<DecimalBytes>(width)
        }
        (P::FIXED_LEN_BYTE_ARRAY, D::FixedSizeBinary(_)) => {
            of.column(FixedBytes { width: of.width()? })
        }
        (P::BYTE_ARRAY, D::Utf8) => of.column(Texts(Content::Text)),
        (P::BYTE_ARRAY, D::Binary) => of.column(Texts(Content::Binary)),
        (P::BYTE_ARRAY, D::Utf8View) => of.column(Views(Content::Text)),
        (P::BYTE_ARRAY, D::BinaryView) => of.column(Views(Content::Binary)),
        _ => None,
    }
}

/// Return whether the footer states that all data pages of a column chunk are dictionary-encoded.
#[allow(deprecated)]
fn has_only_keys(chunk: &ColumnChunkMetaData) -> bool {
    let encodings = chunk.page_encoding_stats_mask();
    encodings.is_some_and(|encodings| {
        encodings.is_only(Encoding::RLE_DICTIONARY) || encodings.is_only(Encoding::PLAIN_DICTIONARY)
    })
}

struct Column<'a> {
    group: &'a RowGroup,
    leaf: usize,
    chunk: &'a ColumnChunkMetaData,
    decoded: &'a DataType,
    is_dictionary: bool,
}

impl Column<'_> {
    /// Return the bytes of a fixed-length value, at least 1.
    fn width(&self) -> Option<usize> {
        usize::try_from(self.chunk.column_descr().type_length()).ok().filter(|width| *width > 0)
    }

    fn fixed<S: Stored>(&self, width: usize) -> Option<Arc<dyn FlatColumn>> {
        self.column(Fixed { data_type: self.decoded.clone(), width, stored: PhantomData::<S> })
    }

    fn column<V: ValueType>(&self, values: V) -> Option<Arc<dyn FlatColumn>> {
        let pages = ChunkPages::new(self.group.clone(), self.leaf)?;
        let column: Arc<dyn FlatColumn> = match self.is_dictionary {
            true => Arc::new(TypedColumn::new(Keyed(values), pages)),
            false => Arc::new(TypedColumn::new(values, pages)),
        };
        Some(column)
    }
}

//! Statistics of some pages of a column chunk, by its column index.

use std::cmp::Ordering;
use std::ops::Range;

use parquet::basic::LogicalType;
use parquet::data_type::{
    AsBytes, BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type,
};
use parquet::errors::Result;
use parquet::file::metadata::ColumnIndexBuilder;
use parquet::file::page_index::column_index::{
    ByteArrayColumnIndex, ColumnIndexMetaData, PrimitiveColumnIndex,
};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescriptor;

/// The longest bounds that the column index has in full: longer ones are truncated to 64 bytes, or to up to three bytes
/// less within a character.
const EXACT_BYTES: usize = 60;

/// Pages of one column chunk.
pub(super) struct PageStatistics<'a> {
    index: &'a ColumnIndexMetaData,
    column: &'a ColumnDescriptor,
    pages: Range<usize>,
    nulls: i64,
    /// The number of NaNs in columns of floating-point types.
    nans: Option<i64>,
}

impl<'a> PageStatistics<'a> {
    /// Return the statistics of `pages`. `None` if the index lacks a count or the end of a bound.
    pub(super) fn new(
        index: &'a ColumnIndexMetaData,
        column: &'a ColumnDescriptor,
        pages: Range<usize>,
    ) -> Option<Self> {
        if u64::try_from(pages.end).ok()? > index.num_pages() {
            return None;
        }
        let nulls = pages.clone().try_fold(0i64, |sum, page| {
            sum.checked_add(index.null_count(page).filter(|count| *count >= 0)?)
        })?;
        let nans = match index {
            ColumnIndexMetaData::FLOAT(_) | ColumnIndexMetaData::DOUBLE(_) => {
                Some(pages.clone().try_fold(0i64, |sum, page| {
                    sum.checked_add(index.nan_count(page).filter(|count| *count >= 0)?)
                })?)
            }
            ColumnIndexMetaData::INT96(_) => return None,
            _ => None,
        };
        let found = Self { index, column, pages, nulls, nans };
        found.bounds_are_exact().then_some(found)
    }

    /// Return the statistics of the pages as a column chunk.
    pub(super) fn of_chunk(&self) -> Option<Statistics> {
        Some(match self.index {
            ColumnIndexMetaData::BOOLEAN(index) => self.of_values::<BoolType>(index, by_value),
            ColumnIndexMetaData::INT32(index) => self.of_values::<Int32Type>(index, by_value),
            ColumnIndexMetaData::INT64(index) => self.of_values::<Int64Type>(index, by_value),
            ColumnIndexMetaData::FLOAT(index) => self
                .of_values::<FloatType>(index, |a, b| number_order(f64::from(*a), f64::from(*b))),
            ColumnIndexMetaData::DOUBLE(index) => {
                self.of_values::<DoubleType>(index, |a, b| number_order(*a, *b))
            }
            ColumnIndexMetaData::BYTE_ARRAY(index) => {
                self.of_bytes::<ByteArrayType>(index, by_value)
            }
            ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(index) if self.is_decimal() => {
                self.of_bytes::<FixedLenByteArrayType>(index, signed_order)
            }
            ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(index) => {
                self.of_bytes::<FixedLenByteArrayType>(index, by_value)
            }
            ColumnIndexMetaData::INT96(_) => return None,
        })
    }

    fn of_values<D: DataType>(
        &self,
        index: &PrimitiveColumnIndex<D::T>,
        order: impl Fn(&D::T, &D::T) -> Option<Ordering>,
    ) -> Statistics
    where
        Statistics: From<ValueStatistics<D::T>>,
    {
        let pages = self.pages.clone();
        let pages = pages.filter_map(|page| Some((index.min_value(page)?, index.max_value(page)?)));
        let (least, greatest) = range(pages, order);
        self.with_counts::<D>(least.cloned(), greatest.cloned())
    }

    fn of_bytes<D: DataType>(
        &self,
        index: &ByteArrayColumnIndex,
        order: impl Fn(&[u8], &[u8]) -> Option<Ordering>,
    ) -> Statistics
    where
        D::T: From<ByteArray>,
        Statistics: From<ValueStatistics<D::T>>,
    {
        let pages = self.pages.clone();
        let pages = pages.filter_map(|page| Some((index.min_value(page)?, index.max_value(page)?)));
        let (least, greatest) = range(pages, order);
        let value = |bytes: &[u8]| ByteArray::from(bytes.to_vec()).into();
        self.with_counts::<D>(least.map(value), greatest.map(value))
    }

    /// Return the statistics of values between two bounds.
    fn with_counts<D: DataType>(&self, least: Option<D::T>, greatest: Option<D::T>) -> Statistics
    where
        Statistics: From<ValueStatistics<D::T>>,
    {
        let nulls = u64::try_from(self.nulls).ok();
        ValueStatistics::new(least, greatest, None, nulls, false)
            .with_nan_count(self.nans.and_then(|nans| u64::try_from(nans).ok()))
            .with_backwards_compatible_min_max(self.column.sort_order().is_signed())
            .into()
    }

    fn is_decimal(&self) -> bool {
        matches!(self.column.logical_type_ref(), Some(LogicalType::Decimal { .. }))
    }

    /// Return the column index of the pages.
    ///
    /// # Errors
    /// None for the entries of a column index.
    pub(super) fn column_index(&self) -> Result<ColumnIndexMetaData> {
        let mut builder = ColumnIndexBuilder::new(self.column.physical_type());
        for page in self.pages.clone() {
            let (least, greatest) = self.page_bounds(page).unwrap_or_default();
            let nulls = self.index.null_count(page).unwrap_or_default();
            let nans = self.nans.and(self.index.nan_count(page));
            builder.append(self.index.is_null_page(page), least, greatest, nulls, nans);
        }
        if let Some(order) = self.index.get_boundary_order() {
            builder.set_boundary_order(order);
        }
        builder.build()
    }

    fn bounds_are_exact(&self) -> bool {
        self.pages.clone().all(|page| {
            self.index.is_null_page(page)
                || self.page_bounds(page).is_some_and(|(least, greatest)| {
                    least.len() <= EXACT_BYTES && greatest.len() <= EXACT_BYTES
                })
        })
    }

    /// Return the bounds of a page as bytes; `None` for a page of nulls.
    fn page_bounds(&self, page: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        macro_rules! of {
            ($index:expr) => {
                (
                    $index.min_value(page)?.as_bytes().into(),
                    $index.max_value(page)?.as_bytes().into(),
                )
            };
        }
        Some(match self.index {
            ColumnIndexMetaData::BOOLEAN(index) => of!(index),
            ColumnIndexMetaData::INT32(index) => of!(index),
            ColumnIndexMetaData::INT64(index) => of!(index),
            ColumnIndexMetaData::FLOAT(index) => of!(index),
            ColumnIndexMetaData::DOUBLE(index) => of!(index),
            ColumnIndexMetaData::BYTE_ARRAY(index)
            | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(index) => of!(index),
            ColumnIndexMetaData::INT96(_) => return None,
        })
    }
}

/// Return the least and the greatest bound of pages. `order` returns `None` for a page of nothing but NaN, whose bounds
/// count only where all pages are so.
fn range<'a, T: ?Sized>(
    pages: impl Iterator<Item = (&'a T, &'a T)>,
    order: impl Fn(&T, &T) -> Option<Ordering>,
) -> (Option<&'a T>, Option<&'a T>) {
    let found = pages.fold(None, |found, (least, greatest)| match found {
        Some(known) if order(least, greatest).is_none() => Some(known),
        Some((low, high)) if order(low, high).is_some() => Some((
            if order(least, low) == Some(Ordering::Less) { least } else { low },
            if order(greatest, high) == Some(Ordering::Greater) { greatest } else { high },
        )),
        _ => Some((least, greatest)),
    });
    found.unzip()
}

fn by_value<T: Ord + ?Sized>(left: &T, right: &T) -> Option<Ordering> {
    Some(left.cmp(right))
}

/// Return the order of two numbers, in which -0.0 is less than 0.0; `None` if one of them is NaN.
fn number_order(left: f64, right: f64) -> Option<Ordering> {
    (!left.is_nan() && !right.is_nan()).then(|| left.total_cmp(&right))
}

/// Return the order of two whole numbers of the same width, most significant byte first.
fn signed_order(left: &[u8], right: &[u8]) -> Option<Ordering> {
    let sign = |bytes: &[u8]| bytes.first().map(|byte| byte.cast_signed());
    Some(sign(left).cmp(&sign(right)).then_with(|| left.cmp(right)))
}

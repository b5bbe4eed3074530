//! Names of Arrow types in messages, spelled as pyarrow spells them.

use std::fmt;

use arrow_schema::{DataType, Field, TimeUnit};

/// An Arrow type whose `Display` is its name in pyarrow, such as `large_string` or `timestamp[us, tz=UTC]`.
///
/// ```
/// use arrow_schema::DataType;
/// use icefloe_format::spec::ArrowName;
/// assert_eq!(ArrowName(&DataType::Utf8View).to_string(), "string_view");
/// assert_eq!(ArrowName(&DataType::FixedSizeBinary(16)).to_string(), "fixed_size_binary[16]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ArrowName<'a>(pub &'a DataType);

impl fmt::Display for ArrowName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DataType as D;
        match self.0 {
            D::Null => f.write_str("null"),
            D::Boolean => f.write_str("bool"),
            D::Int8 => f.write_str("int8"),
            D::Int16 => f.write_str("int16"),
            D::Int32 => f.write_str("int32"),
            D::Int64 => f.write_str("int64"),
            D::UInt8 => f.write_str("uint8"),
            D::UInt16 => f.write_str("uint16"),
            D::UInt32 => f.write_str("uint32"),
            D::UInt64 => f.write_str("uint64"),
            D::Float16 => f.write_str("halffloat"),
            D::Float32 => f.write_str("float"),
            D::Float64 => f.write_str("double"),
            D::Decimal32(precision, scale) => write!(f, "decimal32({precision}, {scale})"),
            D::Decimal64(precision, scale) => write!(f, "decimal64({precision}, {scale})"),
            D::Decimal128(precision, scale) => write!(f, "decimal128({precision}, {scale})"),
            D::Decimal256(precision, scale) => write!(f, "decimal256({precision}, {scale})"),
            D::Date32 => f.write_str("date32[day]"),
            D::Date64 => f.write_str("date64[ms]"),
            D::Time32(unit) => write!(f, "time32[{}]", symbol(*unit)),
            D::Time64(unit) => write!(f, "time64[{}]", symbol(*unit)),
            D::Duration(unit) => write!(f, "duration[{}]", symbol(*unit)),
            D::Interval(_) => f.write_str("interval"),
            D::Timestamp(unit, None) => write!(f, "timestamp[{}]", symbol(*unit)),
            D::Timestamp(unit, Some(zone)) => {
                write!(f, "timestamp[{}, tz={zone}]", symbol(*unit))
            }
            D::Utf8 => f.write_str("string"),
            D::LargeUtf8 => f.write_str("large_string"),
            D::Utf8View => f.write_str("string_view"),
            D::Binary => f.write_str("binary"),
            D::LargeBinary => f.write_str("large_binary"),
            D::BinaryView => f.write_str("binary_view"),
            D::FixedSizeBinary(length) => write!(f, "fixed_size_binary[{length}]"),
            D::List(item) => write!(f, "list<{}>", named(item)),
            D::LargeList(item) => write!(f, "large_list<{}>", named(item)),
            D::ListView(item) => write!(f, "list_view<{}>", named(item)),
            D::LargeListView(item) => write!(f, "large_list_view<{}>", named(item)),
            D::FixedSizeList(item, length) => {
                write!(f, "fixed_size_list<{}>[{length}]", named(item))
            }
            D::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| named(field)).collect();
                write!(f, "struct<{}>", fields.join(", "))
            }
            D::Map(entries, _) => match entries.data_type() {
                D::Struct(parts) if parts.len() == 2 => {
                    let parts: Vec<String> =
                        parts.iter().map(|part| Self::of(part).to_string()).collect();
                    write!(f, "map<{}>", parts.join(", "))
                }
                other => write!(f, "map<{}>", ArrowName(other)),
            },
            D::Dictionary(keys, values) => {
                let (keys, values) = (ArrowName(keys), ArrowName(values));
                write!(f, "dictionary<values={values}, indices={keys}>")
            }
            D::RunEndEncoded(ends, values) => {
                write!(
                    f,
                    "run_end_encoded<run_ends: {}, values: {}>",
                    Self::of(ends),
                    Self::of(values)
                )
            }
            D::Union(..) => f.write_str("union"),
        }
    }
}

impl<'a> ArrowName<'a> {
    fn of(field: &'a Field) -> Self {
        Self(field.data_type())
    }
}

fn named(field: &Field) -> String {
    format!("{}: {}", field.name(), ArrowName::of(field))
}

fn symbol(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

//! The tree of types in a footer: a list from the root on, with each type before its children.

use super::corrupt;
use super::wire::Fields;
use crate::{Error, Result};

const LIST: u64 = 10;
const MAP: u64 = 11;
const STRUCT: u64 = 12;
const UNION: u64 = 13;
pub(super) const DECIMAL: u64 = 14;
/// The last known kind: a timestamp with time zone.
const LAST_KIND: u64 = 18;
/// The deepest nesting of types: decoders recurse, and tables are far less deep.
const MAX_DEPTH: usize = 200;
/// The most columns of a file, including nested ones; a compressed footer of a few kilobytes can hold millions.
const MAX_COLUMNS: usize = 1 << 17;
const MAX_PRECISION: u64 = 38;

/// A type of a footer.
#[derive(Debug, Default)]
pub(super) struct OrcType {
    kind: u64,
    children: Vec<u64>,
    names: usize,
    precision: u64,
    scale: u64,
}

impl OrcType {
    /// Parse a type with at most `most_children` children.
    fn parse(message: &[u8], most_children: usize) -> Result<Self> {
        let mut parsed = Self::default();
        for field in Fields::of(message) {
            let (number, value) = field?;
            match number {
                1 => parsed.kind = value.number("kind of type")?,
                2 => value.numbers(&mut parsed.children, most_children)?,
                3 => parsed.names += value.bytes("field name").map(|_| 1)?,
                5 => parsed.precision = value.number("precision")?,
                6 => parsed.scale = value.number("scale")?,
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// Return the type's number in the ORC specification.
    pub(super) fn kind(&self) -> u64 {
        self.kind
    }

    /// Return whether the type is a union.
    pub(super) fn is_union(&self) -> bool {
        self.kind == UNION
    }

    pub(super) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    fn check(&self, column: usize) -> Result<()> {
        let children = self.children.len();
        let fits = match self.kind {
            LIST => children == 1,
            MAP => children == 2,
            UNION => children > 0,
            STRUCT => children == self.names,
            kind if kind <= LAST_KIND => children == 0,
            19 => return Err(Error::unsupported("the ORC type geometry")),
            20 => return Err(Error::unsupported("the ORC type geography")),
            other => return Err(corrupt(format!("column {column} has the unknown type {other}"))),
        };
        if !fits {
            let (kind, names) = (self.kind, self.names);
            return Err(corrupt(format!(
                "column {column} of type {kind} has {children} children and {names} names"
            )));
        }
        // Files of the first writers state no precision, which means the greatest.
        let widest = if self.precision == 0 { MAX_PRECISION } else { self.precision };
        if self.kind == DECIMAL && (widest > MAX_PRECISION || self.scale > MAX_PRECISION) {
            let (precision, scale) = (self.precision, self.scale);
            return Err(corrupt(format!(
                "column {column} has an invalid type; expected a precision and scale of at most {MAX_PRECISION}, got decimal({precision}, {scale})"
            )));
        }
        Ok(())
    }
}

/// The types of a footer, validated one by one.
#[derive(Debug, Default)]
pub(super) struct TypeTree {
    types: Vec<OrcType>,
    /// Numbers and depths of the children of previous types that have not followed yet, the next one last.
    announced: Vec<(u64, usize)>,
    /// Number of columns of the tree so far, including announced ones.
    columns: usize,
}

impl TypeTree {
    /// Add the type of the next column.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the column's number; [`Error::Unsupported`] for geometry and geography.
    pub(super) fn push(&mut self, message: &[u8]) -> Result<()> {
        let column = self.types.len();
        if column == 0 {
            self.announced.push((0, 0));
            self.columns = 1;
        }
        let depth = match self.announced.pop() {
            Some((next, depth)) if next == column as u64 => depth,
            Some((next, _)) => {
                return Err(corrupt(format!(
                    "the columns are out of order; expected column {next}, got column {column}"
                )));
            }
            None => return Err(corrupt(format!("column {column} has no parent"))),
        };
        if depth > MAX_DEPTH {
            return Err(corrupt(format!(
                "the columns are nested too deep; expected at most {MAX_DEPTH} levels"
            )));
        }
        let found = OrcType::parse(message, MAX_COLUMNS - self.columns)?;
        found.check(column)?;
        self.columns += found.children.len();
        self.announced.extend(found.children.iter().rev().map(|child| (*child, depth + 1)));
        self.types.push(found);
        Ok(())
    }

    /// Return all types, after the last one.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a column that is missing.
    pub(super) fn finish(self) -> Result<Vec<OrcType>> {
        let missing = if self.types.is_empty() { Some(&(0, 0)) } else { self.announced.last() };
        match missing {
            None => Ok(self.types),
            Some((next, _)) => {
                let columns = self.types.len();
                Err(corrupt(format!("column {next} is missing; got {columns} columns")))
            }
        }
    }
}

//! Relative locations, which some writers record, against a working directory.
//!
//! The directory is a property of the storage: it is recorded when a table is loaded, and does not change with the
//! directory of the process or in another process.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, StringArray};
use icefloe_format::Result as FormatResult;
use icefloe_format::manifest::ManifestColumns;
use icefloe_format::predicate::stored_bounds;

use super::file_io::FileIo;
use super::location::{Location, is_relative};
use crate::error::Result;

/// The property that holds the working directory, an absolute path of this machine.
const WORKING_DIRECTORY: &str = "file.working-directory";
/// `content` of a position delete file.
const POSITION_DELETES: i32 = 1;
/// Id of `file_path` in position delete files.
const DELETE_FILE_PATH_ID: i32 = 2_147_483_546;

impl FileIo {
    /// Return a location that no longer depends on a working directory: a relative one joined to the property
    /// `file.working-directory`. All others, and relative ones without the property, stay unchanged.
    pub fn absolute<'t>(&self, location: &'t str) -> Cow<'t, str> {
        match self.properties.get(WORKING_DIRECTORY) {
            Some(directory) if is_relative(location) => Cow::Owned(joined(directory, location)),
            _ => Cow::Borrowed(location),
        }
    }

    pub(super) fn parsed<'t>(&self, location: &'t str) -> Result<Location<'t>> {
        match self.absolute(location) {
            Cow::Borrowed(location) => Location::parse(location),
            Cow::Owned(absolute) => Location::local_path(&absolute),
        }
    }

    /// Return a column of locations, each made [`FileIo::absolute`].
    pub(crate) fn absolute_column(&self, locations: &ArrayRef) -> ArrayRef {
        let absolute =
            locations.as_string_opt::<i32>().and_then(|texts| self.absolute_texts(texts));
        absolute.map_or_else(|| Arc::clone(locations), |texts| Arc::new(texts))
    }

    /// Return the texts with absolute locations; `None` if no location is relative.
    fn absolute_texts(&self, locations: &StringArray) -> Option<StringArray> {
        let is_relative = |text: Option<&str>| text.is_some_and(is_relative);
        (self.properties.contains_key(WORKING_DIRECTORY) && locations.iter().any(is_relative))
            .then(|| locations.iter().map(|text| text.map(|text| self.absolute(text))).collect())
    }
}

/// Return the entries of a manifest with absolute locations. A position delete file whose bounds are one relative path
/// gets the absolute path as its referenced data file, which takes precedence over the bounds.
pub(crate) fn absolute_entries(
    io: &FileIo,
    columns: ManifestColumns,
) -> FormatResult<ManifestColumns> {
    if !io.properties.contains_key(WORKING_DIRECTORY) {
        return Ok(columns);
    }
    let mut replaced: Vec<(&str, ArrayRef)> = Vec::new();
    if let Some(paths) = io.absolute_texts(columns.paths()?) {
        replaced.push(("file_path", Arc::new(paths)));
    }
    if let Some(referenced) = referenced_data_files(io, &columns)? {
        replaced.push(("referenced_data_file", Arc::new(referenced)));
    }
    if replaced.is_empty() { Ok(columns) } else { columns.with_columns(replaced) }
}

fn referenced_data_files(
    io: &FileIo,
    columns: &ManifestColumns,
) -> FormatResult<Option<StringArray>> {
    let contents: &Int32Array = columns.ints("content")?;
    if contents.values().iter().all(|content| *content != POSITION_DELETES) {
        return Ok(None);
    }
    let named = columns.entries.column_by_name("referenced_data_file");
    let Some(named) = named.and_then(|named| named.as_string_opt::<i32>()) else { return Ok(None) };
    let lower = stored_bounds(&columns.entries, "lower_bounds", DELETE_FILE_PATH_ID)?;
    let upper = stored_bounds(&columns.entries, "upper_bounds", DELETE_FILE_PATH_ID)?;
    let by_bounds = |row: usize| {
        let (lower, upper) = (lower.get(row)?.as_ref()?, upper.get(row)?.as_ref()?);
        let text = std::str::from_utf8(lower).ok().filter(|_| lower == upper)?;
        is_relative(text).then_some(text)
    };
    let mut changed = false;
    let found: StringArray = (0..named.len())
        .map(|row| {
            let own = named.is_valid(row).then(|| named.value(row));
            let text = own.or_else(|| by_bounds(row))?;
            changed |= is_relative(text);
            Some(io.absolute(text))
        })
        .collect();
    Ok(changed.then_some(found))
}

/// Join a relative path to a directory. Leading `..` segments go up; the store refuses later ones, since
/// their meaning depends on symbolic links.
fn joined(directory: &str, relative: &str) -> String {
    let (mut directory, mut rest) = (directory.trim_end_matches('/'), relative);
    loop {
        let (segment, after) = rest.split_once('/').unwrap_or((rest, ""));
        match segment {
            "" | "." if !rest.is_empty() => {}
            ".." => directory = directory.rsplit_once('/').map_or("", |(above, _)| above),
            _ => break,
        }
        rest = after;
    }
    if rest.is_empty() && !directory.is_empty() {
        return directory.to_owned();
    }
    format!("{directory}/{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_locations_start_from_the_working_directory() {
        let io = FileIo::new([(WORKING_DIRECTORY.to_owned(), "/home/me".to_owned())]);
        for (location, absolute) in [
            ("lake/db/t", "/home/me/lake/db/t"),
            ("./lake//t", "/home/me/lake//t"),
            ("../lake/t", "/home/lake/t"),
            ("../../../lake", "/lake"),
            ("..", "/home"),
            (".", "/home/me"),
            ("ts=2020-01-01 10:00/a", "/home/me/ts=2020-01-01 10:00/a"),
            ("/lake", "/lake"),
            ("s3://bucket/lake", "s3://bucket/lake"),
            ("file:/lake", "file:/lake"),
            ("file:lake", "file:lake"),
            ("", ""),
        ] {
            assert_eq!(io.absolute(location), absolute, "{location}");
        }
        assert_eq!(FileIo::default().absolute("lake"), "lake");
    }
}

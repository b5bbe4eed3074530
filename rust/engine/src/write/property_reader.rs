//! Reading table properties of data files and of delete files.

use std::collections::BTreeMap;

use icefloe_format::{Error, Result};

use super::file_format::FileKind;

/// The properties of one kind of files in one format. Properties of delete files (`write.delete.<format>.`) come before
/// properties of data files (`write.<format>.`).
pub(super) struct PropertyReader<'a> {
    pub(super) properties: &'a BTreeMap<String, String>,
    pub(super) kind: FileKind,
    /// The format's name in property names.
    pub(super) format: &'static str,
}

impl<'a> PropertyReader<'a> {
    /// Return the name and value of a property of the format, if it is set.
    pub(super) fn text(&self, name: &str) -> Option<(String, &'a String)> {
        let format = self.format;
        let deletes =
            (self.kind == FileKind::Deletes).then(|| format!("write.delete.{format}.{name}"));
        deletes
            .into_iter()
            .chain([format!("write.{format}.{name}")])
            .find_map(|key| self.properties.get(&key).map(|text| (key, text)))
    }

    /// Return a whole number above 0.
    pub(super) fn number(&self, name: &str, default: u64) -> Result<u64> {
        self.text(name).map_or(Ok(default), |(key, text)| positive(&key, text))
    }

    /// Return a number above 0 and below 1.
    pub(super) fn fraction(&self, name: &str, default: f64) -> Result<f64> {
        let Some((key, text)) = self.text(name) else { return Ok(default) };
        match text.trim().parse::<f64>() {
            Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
            _ => {
                Err(Error::invalid(key, format!("expected a number between 0 and 1, got {text:?}")))
            }
        }
    }

    /// Return a compression level.
    pub(super) fn level(&self) -> Result<Option<(String, i32)>> {
        let level = self.text("compression-level").map(|(key, text)| {
            let level = text.trim().parse::<i32>();
            let refused =
                |_| Error::invalid(&key, format!("expected a whole number, got {text:?}"));
            level.map_err(refused).map(|level| (key.clone(), level))
        });
        level.transpose()
    }
}

/// Return a property that is a whole number above 0.
pub(super) fn number(
    properties: &BTreeMap<String, String>,
    name: &str,
    default: u64,
) -> Result<u64> {
    properties.get(name).map_or(Ok(default), |text| positive(name, text))
}

fn positive(name: &str, text: &str) -> Result<u64> {
    match text.trim().parse::<u64>() {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(Error::invalid(name, format!("expected a whole number above 0, got {text:?}"))),
    }
}

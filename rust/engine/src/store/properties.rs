//! Storage properties: checked names, typed values, redacted secrets.

use std::collections::BTreeMap;
use std::time::Duration;

use icefloe_format::Error as FormatError;

use crate::error::Result;

/// The property names of a service.
pub(super) struct Names {
    /// The common prefix: `s3.`.
    pub(super) prefix: &'static str,
    /// Names that are used.
    pub(super) used: &'static [&'static str],
    /// Names of other libraries that are ignored; a name that ends in a dot is a prefix.
    pub(super) ignored: &'static [&'static str],
    /// Names of unsupported features, refused unless they are false.
    pub(super) unsupported: &'static [&'static str],
}

/// The properties of one access to storage.
#[derive(Clone, Copy)]
pub(super) struct Properties<'a>(pub(super) &'a BTreeMap<String, String>);

impl std::fmt::Debug for Properties<'_> {
    /// Values may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl<'a> Properties<'a> {
    /// Refuse unknown names and names of unsupported features.
    ///
    /// # Errors
    /// `InvalidArgument`, `Unsupported`; naming the property, never its value.
    pub(super) fn check(self, names: &Names) -> Result<()> {
        let own = self.0.range(names.prefix.to_owned()..);
        for (name, value) in own.take_while(|(name, _)| name.starts_with(names.prefix)) {
            if names.used.iter().any(|known| fits(known, name))
                || names.ignored.iter().any(|known| fits(known, name))
            {
                continue;
            }
            if names.unsupported.contains(&name.as_str()) {
                if value.eq_ignore_ascii_case("false") || value.is_empty() {
                    continue;
                }
                return Err(FormatError::unsupported(format!("property {name}")).into());
            }
            let reason = format!("unknown property; expected one of {}", names.used.join(", "));
            return Err(FormatError::invalid(name, reason).into());
        }
        Ok(())
    }

    /// Return the first of these properties that is set and not empty.
    pub(super) fn text(self, names: &[&str]) -> Option<&'a str> {
        let mut values = names.iter().filter_map(|name| self.0.get(*name));
        values.find(|value| !value.is_empty()).map(String::as_str)
    }

    /// Return a property that is `true` or `false`.
    ///
    /// # Errors
    /// `InvalidArgument` naming it.
    pub(super) fn flag(self, name: &str) -> Result<Option<bool>> {
        let Some(text) = self.text(&[name]) else { return Ok(None) };
        match text.to_ascii_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(invalid(name, &format!("expected true or false, got {text:?}"))),
        }
    }

    /// Return a property in seconds, with or without a fraction.
    ///
    /// # Errors
    /// `InvalidArgument` naming it.
    pub(super) fn seconds(self, name: &str) -> Result<Option<Duration>> {
        let Some(text) = self.text(&[name]) else { return Ok(None) };
        let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
        match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            Some(duration) => Ok(Some(duration)),
            None => {
                Err(invalid(name, &format!("expected a number of seconds above 0, got {text:?}")))
            }
        }
    }

    /// Return a property that is a whole number of at least `least`.
    ///
    /// # Errors
    /// `InvalidArgument` naming it.
    pub(super) fn number(self, name: &str, least: u64) -> Result<Option<u64>> {
        let Some(text) = self.text(&[name]) else { return Ok(None) };
        match text.trim().parse::<u64>().ok().filter(|number| *number >= least) {
            Some(number) => Ok(Some(number)),
            None => Err(invalid(
                name,
                &format!("expected a whole number of at least {least}, got {text:?}"),
            )),
        }
    }

    /// Return a property that is an HTTP address.
    ///
    /// # Errors
    /// `InvalidArgument` naming it.
    pub(super) fn address(self, name: &str) -> Result<Option<url::Url>> {
        let Some(text) = self.text(&[name]) else { return Ok(None) };
        let parsed = url::Url::parse(text).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host_str().is_some_and(|it| !it.is_empty())
        });
        parsed.map(Some).ok_or_else(|| invalid(name, "expected an http:// or https:// address"))
    }

    /// Return a message without the values of secret properties.
    pub(super) fn redact(self, text: String) -> String {
        let secrets = self.0.iter().filter(|(name, value)| is_secret(name) && value.len() > 3);
        secrets.fold(text, |text, (_, secret)| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), "***") } else { text }
        })
    }
}

pub(super) fn invalid(name: &str, reason: &str) -> crate::Error {
    FormatError::invalid(name, reason).into()
}

fn fits(known: &str, name: &str) -> bool {
    known == name || (known.ends_with('.') && name.starts_with(known))
}

fn is_secret(name: &str) -> bool {
    const MARKS: [&str; 8] = [
        "key",
        "secret",
        "token",
        "password",
        "credential",
        "connection-string",
        "proxy-uri",
        "header.",
    ];
    let is_address = name.ends_with("-endpoint") || name.ends_with("-location");
    !is_address && MARKS.iter().any(|mark| name.contains(mark))
}

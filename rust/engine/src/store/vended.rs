//! Credentials that a catalog lends and renews: those of the properties until shortly before they expire,
//! then what the catalog's endpoint for them answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use object_store::CredentialProvider;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::client::trust_ring;
use super::properties::{Properties, invalid};
use crate::error::Result;

/// Credentials that would expire this soon are renewed.
const MARGIN: Duration = Duration::from_secs(300);
const ATTEMPTS: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest that one answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Before every property that is sent with requests to the catalog.
const HEADER: &str = "header.";

/// Credentials and when they expire, in milliseconds since 1970, if they say so.
type Expiring<C> = (C, Option<u64>);

/// What properties name a service's credentials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lent<C> {
    pub(super) service: &'static str,
    /// Where they are renewed: an address, or a path below the catalog's `uri`.
    pub(super) endpoint: &'static str,
    /// `false` if they are not to be renewed.
    pub(super) enabled: &'static str,
    /// The credentials of an account that properties hold.
    pub(super) read: fn(Properties<'_>, &str) -> Option<Expiring<C>>,
}

/// Renewed credentials of one bucket or account.
pub(super) struct Vended<C> {
    lent: Lent<C>,
    /// A location that the credentials must be good for.
    place: String,
    /// What `read` is told of it.
    account: String,
    address: url::Url,
    headers: Vec<(String, String)>,
    client: reqwest::Client,
    held: Mutex<Option<Expiring<Arc<C>>>>,
}

impl<C> std::fmt::Debug for Vended<C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "credentials of {} from {}", self.place, self.address)
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "storage-credentials")]
    credentials: Vec<Credentials>,
}

#[derive(Deserialize)]
struct Credentials {
    prefix: String,
    config: BTreeMap<String, String>,
}

impl<C: Send + Sync + 'static> Vended<C> {
    /// The provider that the properties ask for, if they do.
    ///
    /// # Errors
    /// `InvalidArgument` naming a property.
    pub(super) fn new(
        lent: Lent<C>,
        place: String,
        account: &str,
        properties: Properties<'_>,
    ) -> Result<Option<Arc<Self>>> {
        let Some(endpoint) = properties.text(&[lent.endpoint]) else { return Ok(None) };
        if properties.flag(lent.enabled)? == Some(false) {
            return Ok(None);
        }
        let own = (lent.read)(properties, account);
        let held = own.map(|(credentials, expires)| (Arc::new(credentials), expires));
        Ok(Some(Arc::new(Self {
            address: address(lent.endpoint, endpoint, properties)?,
            headers: headers(properties),
            client: client()?,
            // Credentials that do not say how long they are good for may be old.
            held: Mutex::new(held.filter(|(_, expires)| expires.is_some())),
            account: account.to_owned(),
            place,
            lent,
        })))
    }

    /// What the catalog answers, asked again after a failure that may pass.
    async fn renewed(&self) -> std::result::Result<Expiring<C>, String> {
        let mut wait = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            match self.ask().await {
                Ok(body) => return self.fitting(&body),
                Err((reason, passing)) if !passing || attempt == ATTEMPTS => return Err(reason),
                Err(_) => tokio::time::sleep(wait).await,
            }
            attempt += 1;
            wait *= 2;
        }
    }

    /// The body of one answer, or why there is none and whether to ask again.
    async fn ask(&self) -> std::result::Result<Vec<u8>, (String, bool)> {
        let mut request = self.client.get(self.address.clone());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let failed = |error: reqwest::Error| (error.without_url().to_string(), true);
        let answer = request.send().await.map_err(failed)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(failed)?;
        if status.is_success() {
            return Ok(body.to_vec());
        }
        let passing = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
        Err((format!("it answers {status}"), passing))
    }

    /// The credentials with the longest prefix of our place.
    fn fitting(&self, body: &[u8]) -> std::result::Result<Expiring<C>, String> {
        let answer: Answer = serde_json::from_slice(body)
            .map_err(|error| format!("its answer is no list of storage-credentials: {error}"))?;
        let fitting = answer.credentials.iter().filter(|it| covers(&it.prefix, &self.place));
        let best = fitting.max_by_key(|it| it.prefix.len());
        let found = best.and_then(|it| (self.lent.read)(Properties(&it.config), &self.account));
        found.ok_or_else(|| {
            let prefixes: Vec<_> = answer.credentials.iter().map(|it| it.prefix.as_str()).collect();
            format!("it answers none for {}, only for {prefixes:?}", self.place)
        })
    }
}

#[async_trait]
impl<C: Send + Sync + 'static> CredentialProvider for Vended<C> {
    type Credential = C;

    async fn get_credential(&self) -> object_store::Result<Arc<C>> {
        // Held while asking, so that requests which find them old together ask once.
        let mut held = self.held.lock().await;
        let now = now();
        let left = held.as_ref().map(|(_, expires)| expires.map(|at| at.saturating_sub(now)));
        let margin = u64::try_from(MARGIN.as_millis()).unwrap_or(u64::MAX);
        if let (Some((credentials, _)), Some(left)) = (held.as_ref(), left)
            && left.is_none_or(|left| left > margin)
        {
            return Ok(Arc::clone(credentials));
        }
        match (self.renewed().await, held.as_ref(), left.flatten()) {
            (Ok((credentials, expires)), _, _) => {
                let credentials = Arc::new(credentials);
                *held = Some((Arc::clone(&credentials), expires));
                Ok(credentials)
            }
            (Err(_), Some((credentials, _)), Some(1..)) => Ok(Arc::clone(credentials)),
            (Err(reason), _, _) => Err(object_store::Error::Generic {
                store: self.lent.service,
                source: format!("renewing credentials at {}: {reason}", self.address).into(),
            }),
        }
    }
}

/// Whether credentials for `prefix` are good for `place`: a prefix of it, or only the service.
fn covers(prefix: &str, place: &str) -> bool {
    let scheme = place.split("://").next().unwrap_or(place);
    match prefix.split_once("://") {
        None => prefix.starts_with(scheme),
        Some((_, rest)) => {
            let own = place.split_once("://").map_or("", |(_, own)| own);
            let (prefix, own) = (rest.trim_end_matches('/'), own.trim_end_matches('/'));
            prefix.is_empty() || prefix == own || prefix.starts_with(&format!("{own}/"))
        }
    }
}

fn address(name: &str, endpoint: &str, properties: Properties<'_>) -> Result<url::Url> {
    if endpoint.contains("://") {
        let absolute = properties.address(name)?;
        return absolute.ok_or_else(|| invalid(name, "is no address"));
    }
    let Some(catalog) = properties.address("uri")? else {
        return Err(invalid(name, "is a path, and there is no uri of a catalog that it is below"));
    };
    let text =
        format!("{}/{}", catalog.as_str().trim_end_matches('/'), endpoint.trim_start_matches('/'));
    url::Url::parse(&text).map_err(|error| invalid(name, &error.to_string()))
}

fn headers(properties: Properties<'_>) -> Vec<(String, String)> {
    let own = properties.0.range(HEADER.to_owned()..);
    let own = own.take_while(|(name, _)| name.starts_with(HEADER));
    let mut found: Vec<_> =
        own.map(|(name, value)| (name[HEADER.len()..].to_owned(), value.clone())).collect();
    if let Some(token) = properties.text(&["token"]) {
        found.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    found
}

fn client() -> Result<reqwest::Client> {
    trust_ring();
    let built = reqwest::Client::builder().timeout(ANSWER_TIMEOUT).build();
    built.map_err(|error| invalid("uri", &error.without_url().to_string()))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A number of milliseconds among properties.
pub(super) fn milliseconds(properties: Properties<'_>, name: &str) -> Option<u64> {
    properties.text(&[name])?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn credentials_are_good_below_their_prefix() {
        assert!(covers("s3", "s3://bucket"));
        assert!(covers("s3://bucket", "s3://bucket"));
        assert!(covers("s3://bucket/warehouse/table", "s3://bucket"));
        assert!(covers("s3a://bucket/", "s3://bucket"));
        assert!(!covers("s3://bucket2/warehouse", "s3://bucket"));
        assert!(!covers("gs", "s3://bucket"));
    }
}

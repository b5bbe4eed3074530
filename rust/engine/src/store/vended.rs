//! Vended credentials: taken from the properties until shortly before they expire, then from the catalog's credentials
//! endpoint.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use object_store::CredentialProvider;
use serde::Deserialize;

use super::client::install_tls_provider;
use super::credential_scope::Scope;
use super::properties::{Properties, invalid};
use crate::error::Result;
use crate::runtime::environment::{self, now_ms};

/// Credentials are renewed this long before they expire.
const MARGIN_MS: u64 = 300_000;
/// The longest time between two renewals of credentials that are valid.
const LONGEST_PAUSE_MS: u64 = 10_000;
const ATTEMPTS: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Timeout of one response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The prefix of properties that are headers of requests to the catalog.
const HEADER: &str = "header.";
const CATALOG_URI: &str = "uri";

/// Credentials and their expiry in milliseconds since 1970, if known.
type Expiring<C> = (C, Option<u64>);

/// The property names of a service's credentials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lent<C> {
    pub(super) service: &'static str,
    /// The endpoint that renews them: an address, or a path below the catalog's `uri`.
    pub(super) endpoint: &'static str,
    /// The property that disables renewal with `false`.
    pub(super) enabled: &'static str,
    /// The credentials of an account in properties.
    pub(super) read: fn(Properties<'_>, &str) -> Option<Expiring<C>>,
}

/// Renewed credentials of one bucket or account.
pub(super) struct Vended<C> {
    lent: Lent<C>,
    scope: Scope,
    /// The bucket or account that `read` needs.
    account: String,
    address: url::Url,
    headers: Vec<(String, String)>,
    client: reqwest::Client,
    held: Mutex<Held<C>>,
    /// Held by the storage request that renews the credentials.
    renewal: tokio::sync::Mutex<()>,
}

/// The credentials in use.
struct Held<C> {
    credentials: Option<Expiring<Arc<C>>>,
    /// Valid credentials are not renewed before.
    next_renewal_ms: u64,
}

/// The use of the credentials in use, now.
enum Usable<C> {
    /// They need no renewal now.
    Fresh(Arc<C>),
    /// They are valid and due for renewal.
    Valid(Arc<C>),
    Expired,
}

impl<C> Held<C> {
    fn usable(&self, now: u64) -> Usable<C> {
        let Some((credentials, expires)) = &self.credentials else { return Usable::Expired };
        let credentials = Arc::clone(credentials);
        match expires.map(|at| at.saturating_sub(now)) {
            Some(0) => Usable::Expired,
            Some(left) if left <= MARGIN_MS && now >= self.next_renewal_ms => {
                Usable::Valid(credentials)
            }
            _ => Usable::Fresh(credentials),
        }
    }

    /// Set the time of the next renewal after a renewal, successful or not.
    fn postpone(&mut self, now: u64) {
        let expires = self.credentials.as_ref().and_then(|(_, expires)| *expires);
        let left = expires.map_or(0, |at| at.saturating_sub(now));
        self.next_renewal_ms = now.saturating_add(LONGEST_PAUSE_MS.min(left / 4));
    }
}

impl<C> std::fmt::Debug for Vended<C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "credentials of {} from {}", self.scope.location(), self.address)
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
    /// Return the provider of renewed credentials, if the properties configure it.
    ///
    /// # Errors
    /// `InvalidArgument` naming a property.
    pub(super) fn new(
        lent: Lent<C>,
        store: String,
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
            address: address(lent.endpoint, endpoint, CATALOG_URI, properties)?,
            headers: headers(properties),
            client: client()?,
            held: Mutex::new(Held {
                // Credentials without an expiry may have expired.
                credentials: held.filter(|(_, expires)| expires.is_some()),
                next_renewal_ms: 0,
            }),
            renewal: tokio::sync::Mutex::default(),
            account: account.to_owned(),
            scope: Scope::new(store, properties),
            lent,
        })))
    }

    fn usable(&self) -> Usable<C> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).usable(now_ms())
    }

    /// Return the credentials in use after a renewal, unless another storage request has renewed them already.
    async fn renewed_once(&self) -> object_store::Result<Arc<C>> {
        loop {
            let attempts = match self.usable() {
                Usable::Fresh(credentials) => return Ok(credentials),
                // A storage request that can be sent now does not wait for a catalog that fails.
                Usable::Valid(_) => 1,
                Usable::Expired => ATTEMPTS,
            };
            let renewed = self.renewed(attempts).await;
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = renewed.map(|(credentials, expires)| {
                let credentials = Arc::new(credentials);
                held.credentials = Some((Arc::clone(&credentials), expires));
                credentials
            });
            held.postpone(now_ms());
            match outcome {
                Ok(credentials) => return Ok(credentials),
                Err(reason) if attempts == ATTEMPTS => return Err(self.failed(&reason)),
                Err(_) => {}
            }
        }
    }

    fn failed(&self, reason: &str) -> object_store::Error {
        object_store::Error::Generic {
            store: self.lent.service,
            source: format!("renewing credentials at {}: {reason}", self.address).into(),
        }
    }

    /// Return the credentials of the catalog, after at most this many requests if it fails for a moment.
    async fn renewed(&self, attempts: u32) -> std::result::Result<Expiring<C>, String> {
        let mut wait = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            match self.request().await {
                Ok(body) => return self.fitting(&body),
                Err((reason, passing)) if !passing || attempt >= attempts => return Err(reason),
                Err(_) => environment::sleep(wait).await,
            }
            attempt += 1;
            wait *= 2;
        }
    }

    /// Return the body of one response, or the reason for a failure and whether to retry.
    async fn request(&self) -> std::result::Result<Vec<u8>, (String, bool)> {
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
        Err((format!("expected status 200, got {status}"), passing))
    }

    /// Return the credentials in a response that cover the scope.
    fn fitting(&self, body: &[u8]) -> std::result::Result<Expiring<C>, String> {
        let answer: Answer = serde_json::from_slice(body)
            .map_err(|error| format!("expected a list of storage-credentials: {error}"))?;
        let best = self.scope.best(&answer.credentials, |it| &it.prefix);
        let found = best.and_then(|it| (self.lent.read)(Properties(&it.config), &self.account));
        found.ok_or_else(|| {
            let prefixes: Vec<_> = answer.credentials.iter().map(|it| it.prefix.as_str()).collect();
            format!("expected credentials for {}, got them for {prefixes:?}", self.scope.location())
        })
    }
}

#[async_trait]
impl<C: Send + Sync + 'static> CredentialProvider for Vended<C> {
    type Credential = C;

    async fn get_credential(&self) -> object_store::Result<Arc<C>> {
        let _renewal = match self.usable() {
            Usable::Fresh(credentials) => return Ok(credentials),
            // Other storage requests use valid credentials while one renews them.
            Usable::Valid(credentials) => match self.renewal.try_lock() {
                Ok(renewal) => renewal,
                Err(_) => return Ok(credentials),
            },
            Usable::Expired => self.renewal.lock().await,
        };
        self.renewed_once().await
    }
}

/// Return the address of an endpoint: `endpoint` itself, or a path below the address in the property `base`.
///
/// # Errors
/// `InvalidArgument` naming a property.
pub(super) fn address(
    name: &str,
    endpoint: &str,
    base: &str,
    properties: Properties<'_>,
) -> Result<url::Url> {
    if endpoint.contains("://") {
        let absolute = properties.address(name)?;
        return absolute.ok_or_else(|| invalid(name, "expected an http:// or https:// address"));
    }
    let Some(base) = properties.address(base)? else {
        return Err(invalid(name, "expected an address, or a catalog's uri for this path"));
    };
    let text =
        format!("{}/{}", base.as_str().trim_end_matches('/'), endpoint.trim_start_matches('/'));
    url::Url::parse(&text).map_err(|error| invalid(name, &error.to_string()))
}

/// Return the headers of requests to the catalog.
pub(super) fn headers(properties: Properties<'_>) -> Vec<(String, String)> {
    let own = properties.0.range(HEADER.to_owned()..);
    let own = own.take_while(|(name, _)| name.starts_with(HEADER));
    let mut found: Vec<_> =
        own.map(|(name, value)| (name[HEADER.len()..].to_owned(), value.clone())).collect();
    if let Some(token) = properties.text(&["token"]) {
        found.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    found
}

/// Return a client for requests to the catalog.
///
/// # Errors
/// `InvalidArgument` where no client can be made.
pub(super) fn client() -> Result<reqwest::Client> {
    install_tls_provider();
    let built = reqwest::Client::builder().timeout(ANSWER_TIMEOUT).build();
    built.map_err(|error| invalid("uri", &error.without_url().to_string()))
}

/// Return a property in milliseconds.
pub(super) fn milliseconds(properties: Properties<'_>, name: &str) -> Option<u64> {
    properties.text(&[name])?.trim().parse().ok()
}

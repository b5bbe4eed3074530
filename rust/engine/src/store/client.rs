//! HTTP of every store: TLS, timeouts, retries, and a count of the attempts at a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};

use super::properties::Properties;
use super::silence::{Bounded, silent};
use crate::error::Result;
use crate::runtime::environment;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest pause of a server.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of a request's body that are sent in a second at least; the server cannot answer before it has all of them.
const LEAST_UPLOAD_RATE: f64 = 65_536.0;
const RETRIES: u64 = 6;
const FIRST_WAIT_MS: u64 = 100;
const LONGEST_WAIT_MS: u64 = 20_000;
/// The latest start of an attempt after the first one.
const PATIENCE: Duration = Duration::from_secs(180);
const IDLE_CONNECTIONS: usize = 32;
const READ_AHEAD: &str = "read-ahead-bytes";
/// The bytes that a fast line transfers in a quarter of a second.
const READ_AHEAD_BYTES: usize = 32 << 20;

/// Return the options of a service's client, from its properties `<prefix>connect-timeout` and so on.
///
/// # Errors
/// `InvalidArgument` naming a property.
pub(super) fn client_options(properties: Properties<'_>, prefix: &str) -> Result<ClientOptions> {
    let named = |name: &str| format!("{prefix}{name}");
    // All values are checked at the first use of any.
    read_ahead_bytes(properties, prefix)?;
    let connect = properties.seconds(&named("connect-timeout"))?.unwrap_or(CONNECT_TIMEOUT);
    let mut options = ClientOptions::new()
        .with_connect_timeout(connect)
        .with_timeout_disabled()
        // It would count the time in which a request's body is sent; the connector has its own.
        .with_read_timeout_disabled()
        .with_pool_max_idle_per_host(IDLE_CONNECTIONS)
        .with_pool_idle_timeout(Duration::from_secs(30));
    if let Some(proxy) = properties.address(&named("proxy-uri"))? {
        options = options.with_proxy_url(proxy);
    }
    Ok(options)
}

/// Return the number and delays of retries after a 5xx, a timeout or a lost connection.
///
/// # Errors
/// `InvalidArgument` naming a property.
pub(super) fn retries(properties: Properties<'_>, prefix: &str) -> Result<RetryConfig> {
    let number = |name: &str, default: u64| {
        let found = properties.number(&format!("{prefix}retry.{name}"), 0);
        found.map(|found| found.unwrap_or(default))
    };
    let first = number("min-wait-ms", FIRST_WAIT_MS)?.max(1);
    let longest = number("max-wait-ms", LONGEST_WAIT_MS)?.max(first);
    Ok(RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(first),
            max_backoff: Duration::from_millis(longest),
            base: 2.0,
        },
        max_retries: usize::try_from(number("num-retries", RETRIES)?).unwrap_or(usize::MAX),
        retry_timeout: PATIENCE,
    })
}

/// Return the bytes of data files that a scan reads ahead of the decoding threads; 0 for none.
///
/// # Errors
/// `InvalidArgument` naming the property.
pub(super) fn read_ahead_bytes(properties: Properties<'_>, prefix: &str) -> Result<usize> {
    let bytes = properties.number(&format!("{prefix}{READ_AHEAD}"), 0)?;
    Ok(bytes.map_or(READ_AHEAD_BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)))
}

/// Counts the attempts at a request, in its extensions.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts(Arc<AtomicUsize>);

impl Attempts {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Install ring as the provider of TLS. After an error another provider is installed, which is used.
pub(super) fn install_tls_provider() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Connects with the TLS that this crate is built with.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    silence: Duration,
}

impl Connector {
    /// Return the connector of a service, from its property `<prefix>request-timeout`.
    ///
    /// # Errors
    /// `InvalidArgument` naming the property.
    pub(super) fn new(properties: Properties<'_>, prefix: &str) -> Result<Self> {
        let silence = properties.seconds(&format!("{prefix}request-timeout"))?;
        Ok(Self { silence: silence.unwrap_or(SILENCE_TIMEOUT) })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        install_tls_provider();
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Transport { client, silence: self.silence }))
    }
}

/// Counts the attempts at requests, and bounds the wait for their responses.
#[derive(Debug)]
struct Transport {
    client: HttpClient,
    silence: Duration,
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        // A client without credentials sends an empty header with writes.
        let token = request.headers().get("authorization").map(|value| value.as_bytes());
        if token.is_some_and(|token| token.trim_ascii() == b"Bearer") {
            request.headers_mut().remove("authorization");
        }
        if let Some(attempts) = request.extensions().get::<Attempts>() {
            attempts.0.fetch_add(1, Ordering::Relaxed);
        }
        let sending = request.body().content_length() as f64 / LEAST_UPLOAD_RATE;
        let wait = self.silence.saturating_add(Duration::from_secs_f64(sending));
        let response = environment::within(wait, self.client.execute(request)).await;
        let response = response.ok_or_else(|| silent(wait))??;
        Ok(response.map(|body| HttpResponseBody::new(Bounded::new(body, self.silence))))
    }
}

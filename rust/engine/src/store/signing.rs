//! Remote signing: the catalog signs each request to S3, and this client holds no credentials.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpService,
};
use reqwest::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use super::client::Connector;
use super::properties::{Properties, invalid};
use super::vended;
use crate::error::Result;
use crate::runtime::environment::now_ms;

/// The property that turns remote signing on.
pub(super) const ENABLED: &str = "s3.remote-signing-enabled";
/// The address of the signer; the catalog's `uri` if absent.
pub(super) const SIGNER_URI: &str = "s3.signer.uri";
/// The path below that address, or an address.
pub(super) const SIGNER_ENDPOINT: &str = "s3.signer.endpoint";
const DEFAULT_ENDPOINT: &str = "v1/aws/s3/sign";
const CATALOG_URI: &str = "uri";
/// A signature that the signer marks as private is used this long for the same method, address and signed range.
const CACHED_MS: u64 = 30_000;
const MOST_CACHED: usize = 100;
const AUTHORIZATION: &str = "authorization";
const CACHE_CONTROL: &str = "cache-control";
const RANGE: &str = "range";

type Headers = BTreeMap<String, Vec<String>>;

#[derive(Serialize)]
struct Request<'a> {
    region: &'a str,
    uri: String,
    method: &'a str,
    headers: Headers,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    provider: &'static str,
}

/// The signer's reply: headers to send, and the address to send them to.
#[derive(Debug, Clone, Deserialize)]
struct Signature {
    uri: String,
    headers: Headers,
}

/// An HTTP response of the signer.
struct Reply {
    status: reqwest::StatusCode,
    /// Whether the signature may be used again.
    is_private: bool,
    content: Bytes,
}

impl Signature {
    /// Return whether the signature is valid for one value of a header alone.
    fn covers(&self, header: &str) -> bool {
        let own = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION));
        let texts = own.flat_map(|(_, values)| values).flat_map(|value| value.split([',', ' ']));
        let mut signed = texts.filter_map(|part| part.strip_prefix("SignedHeaders="));
        signed.any(|names| names.split(';').any(|name| name.eq_ignore_ascii_case(header)))
    }
}

/// The requests that a signature serves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Use {
    method: String,
    address: String,
    /// The range of bytes, if the signature covers it; `None` for any.
    range: Option<String>,
}

impl Use {
    /// Return the use of a request for any range.
    fn of(request: &HttpRequest) -> Self {
        let (method, address) = (request.method().to_string(), request.uri().to_string());
        Self { method, address, range: None }
    }
}

/// The signer of one catalog.
struct Signer {
    address: url::Url,
    headers: Vec<(String, String)>,
    region: String,
    client: reqwest::Client,
    /// Signatures by their use, with the time of the reply.
    cached: Mutex<HashMap<Use, (u64, Signature)>>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "signer at {}", self.address)
    }
}

/// Connects clients whose requests the catalog signs.
#[derive(Debug, Clone)]
pub(super) struct SigningConnector {
    signer: Arc<Signer>,
    connector: Connector,
}

impl SigningConnector {
    /// Return the connector of properties with remote signing; `None` without.
    ///
    /// # Errors
    /// `InvalidArgument` naming a property.
    pub(super) fn new(region: &str, properties: Properties<'_>) -> Result<Option<Self>> {
        if properties.flag(ENABLED)? != Some(true) {
            return Ok(None);
        }
        let base = if properties.text(&[SIGNER_URI]).is_some() { SIGNER_URI } else { CATALOG_URI };
        let endpoint = properties.text(&[SIGNER_ENDPOINT]).unwrap_or(DEFAULT_ENDPOINT);
        let address = vended::address(SIGNER_ENDPOINT, endpoint, base, properties)?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(invalid(
                SIGNER_ENDPOINT,
                "expected an http:// or https:// address, or a path",
            ));
        }
        let signer = Arc::new(Signer {
            address,
            headers: vended::headers(properties),
            region: region.to_owned(),
            client: vended::client()?,
            cached: Mutex::default(),
        });
        Ok(Some(Self { signer, connector: Connector::new(properties, "s3.")? }))
    }
}

impl HttpConnector for SigningConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = self.connector.connect(options)?;
        Ok(HttpClient::new(Signing { signer: Arc::clone(&self.signer), client }))
    }
}

#[derive(Debug)]
struct Signing {
    signer: Arc<Signer>,
    client: HttpClient,
}

#[async_trait]
impl HttpService for Signing {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        request.headers_mut().remove(AUTHORIZATION);
        match self.signer.signature(&request).await? {
            Ok(signature) => self.client.execute(signed(request, &signature)?).await,
            Err(refusal) => Ok(refusal),
        }
    }
}

impl Signer {
    /// Return the signature of a request, or the response that stands for a refusal to sign.
    ///
    /// A failure that may pass is reported as a failure to connect, since the request has not been sent: it is repeated.
    async fn signature(
        &self,
        request: &HttpRequest,
    ) -> Result<std::result::Result<Signature, HttpResponse>, HttpError> {
        let any_range = Use::of(request);
        let headers = headers_of(request);
        let range = headers.get(RANGE).map(|values| values.join(","));
        let own_range = Use { range, ..any_range.clone() };
        if let Some(found) = self.cached(&any_range).or_else(|| self.cached(&own_range)) {
            return Ok(Ok(found));
        }
        let reply = self.ask(request, &any_range, headers).await?;
        if reply.status.is_server_error() || matches!(reply.status.as_u16(), 408 | 429) {
            let reason = format!("expected status 200, got {}", reply.status);
            return Err(self.failed(HttpErrorKind::Connect, reason));
        }
        if !reply.status.is_success() {
            let reason =
                format!("the signer {} refused this request: {}", self.address, reply.status);
            let mut refusal = HttpResponse::new(reason.into());
            *refusal.status_mut() = reqwest::StatusCode::FORBIDDEN;
            return Ok(Err(refusal));
        }
        let signature: Signature = serde_json::from_slice(&reply.content).map_err(|error| {
            let reason = format!("expected `uri` and `headers`: {error}");
            self.failed(HttpErrorKind::Unknown, reason)
        })?;
        if reply.is_private {
            let served = if signature.covers(RANGE) { own_range } else { any_range };
            self.cache(served, signature.clone());
        }
        Ok(Ok(signature))
    }

    /// Send a request to the signer and return its reply.
    async fn ask(
        &self,
        request: &HttpRequest,
        any_range: &Use,
        headers: Headers,
    ) -> Result<Reply, HttpError> {
        let body = Request {
            region: &self.region,
            uri: any_range.address.clone(),
            method: &any_range.method,
            headers,
            body: body_of(request),
            provider: "s3",
        };
        let content = serde_json::to_vec(&body)
            .map_err(|error| self.failed(HttpErrorKind::Unknown, error.to_string()))?;
        let mut post = self.client.post(self.address.clone());
        for (name, value) in &self.headers {
            post = post.header(name, value);
        }
        let post = post.header("content-type", "application/json").body(content);
        let unreachable = |error: reqwest::Error| {
            self.failed(HttpErrorKind::Connect, error.without_url().to_string())
        };
        let response = post.send().await.map_err(unreachable)?;
        let cache_control = response.headers().get(CACHE_CONTROL);
        let is_private =
            cache_control.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"private"));
        let status = response.status();
        Ok(Reply { status, is_private, content: response.bytes().await.map_err(unreachable)? })
    }

    fn failed(&self, kind: HttpErrorKind, reason: String) -> HttpError {
        HttpError::new(kind, std::io::Error::other(format!("signer {}: {reason}", self.address)))
    }

    fn cached(&self, key: &Use) -> Option<Signature> {
        let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (stored, signature) = cached.get(key)?;
        (now_ms().saturating_sub(*stored) < CACHED_MS).then(|| signature.clone())
    }

    fn cache(&self, key: Use, signature: Signature) {
        let now = now_ms();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= MOST_CACHED {
            cached.retain(|_, (stored, _)| now.saturating_sub(*stored) < CACHED_MS);
        }
        if cached.len() >= MOST_CACHED
            && let Some(oldest) = cached.iter().min_by_key(|(_, (stored, _))| *stored)
        {
            let oldest = oldest.0.clone();
            cached.remove(&oldest);
        }
        cached.insert(key, (now, signature));
    }
}

fn headers_of(request: &HttpRequest) -> Headers {
    let mut headers = Headers::new();
    for (name, value) in request.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        headers.entry(name.as_str().to_owned()).or_default().push(value);
    }
    headers
}

/// Return the body of a deletion of several objects: the signer checks the names in it. Other bodies are not sent to
/// the signer.
fn body_of(request: &HttpRequest) -> Option<String> {
    let query = request.uri().query().unwrap_or_default();
    let deletes = query.split('&').any(|part| part == "delete" || part == "delete=");
    let body = (deletes && request.method().as_str() == "POST").then(|| request.body())?;
    HttpRequestBody::as_bytes(body).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// Return the request with the address and the headers of the signer; headers that the request has already stay as they
/// are.
fn signed(mut request: HttpRequest, signature: &Signature) -> Result<HttpRequest, HttpError> {
    let invalid = |reason: String| {
        HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(format!("signer: {reason}")))
    };
    *request.uri_mut() =
        signature.uri.parse().map_err(|_| invalid("expected an address in `uri`".to_owned()))?;
    let own: Vec<HeaderName> = request.headers().keys().cloned().collect();
    for (name, values) in &signature.headers {
        let header: HeaderName = name
            .parse()
            .map_err(|_| invalid(format!("expected the name of a header, got {name:?}")))?;
        if header.as_str() == CACHE_CONTROL || header.as_str() == "host" || own.contains(&header) {
            continue;
        }
        let value = HeaderValue::from_str(&values.join(", "))
            .map_err(|_| invalid(format!("expected a valid value of the header {name}")))?;
        request.headers_mut().insert(header, value);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Return a signer whose catalog signs these headers and numbers its signatures.
    fn signer(signed: &'static str) -> Signer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        std::thread::spawn(move || {
            for (number, connection) in listener.incoming().enumerate() {
                answer(connection.unwrap(), signed, number);
            }
        });
        let (headers, region, cached) = (vec![], "here".to_owned(), Mutex::default());
        Signer { address, headers, region, client: vended::client().unwrap(), cached }
    }

    fn answer(mut connection: TcpStream, signed: &str, number: usize) {
        let mut reader = BufReader::new(&connection);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            length = line.strip_prefix("content-length: ").map_or(length, |it| it.parse().unwrap());
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let value = format!("AWS4-HMAC-SHA256 SignedHeaders={signed}, Signature={number}");
        let body = format!(r#"{{"uri":"http://s/k","headers":{{"Authorization":["{value}"]}}}}"#);
        let head = format!(
            "HTTP/1.1 200 OK\r\nCache-Control: private\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        connection.write_all((head + &body).as_bytes()).unwrap();
    }

    async fn number_of(signer: &Signer, range: &'static str) -> String {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = "http://s/k".parse().unwrap();
        request.headers_mut().insert("range", HeaderValue::from_static(range));
        let signature = signer.signature(&request).await.unwrap().unwrap();
        signature.headers["Authorization"][0].rsplit('=').next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn signature_of_a_range_serves_that_range_alone() {
        let signer = signer("host;range;x-amz-date");
        let ranges = ["bytes=0-9", "bytes=10-19", "bytes=0-9", "bytes=10-19"];
        let mut numbers = vec![];
        for range in ranges {
            numbers.push(number_of(&signer, range).await);
        }
        assert_eq!(numbers, ["0", "1", "0", "1"]);
    }

    #[tokio::test]
    async fn signature_without_the_range_serves_all_ranges() {
        let signer = signer("host;x-amz-date");
        assert_eq!(number_of(&signer, "bytes=0-9").await, "0");
        assert_eq!(number_of(&signer, "bytes=10-19").await, "0");
    }
}

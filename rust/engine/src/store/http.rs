//! Files of a web server, read only.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::http::HttpBuilder;

use super::client::{Connector, client_options, retries};
use super::properties::{Names, Properties, invalid};
use crate::error::Result;

const NAMES: Names = Names {
    prefix: "http.",
    used: &[
        "http.proxy-uri",
        "http.connect-timeout",
        "http.request-timeout",
        "http.read-ahead-bytes",
        "http.retry.num-retries",
        "http.retry.min-wait-ms",
        "http.retry.max-wait-ms",
    ],
    ignored: &[],
    unsupported: &[],
};

/// Return the server at `host` or `host:port`.
///
/// # Errors
/// `InvalidArgument` naming a property.
pub(super) fn store(
    host: &str,
    tls: bool,
    properties: Properties<'_>,
) -> Result<Arc<dyn ObjectStore>> {
    properties.check(&NAMES)?;
    let scheme = if tls { "https" } else { "http" };
    let builder = HttpBuilder::new()
        .with_url(format!("{scheme}://{host}"))
        .with_client_options(client_options(properties, "http.")?.with_allow_http(!tls))
        .with_retry(retries(properties, "http.")?)
        .with_http_connector(Connector::new(properties, "http.")?);
    Ok(Arc::new(builder.build().map_err(|error| invalid("location", &error.to_string()))?))
}

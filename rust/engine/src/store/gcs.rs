//! Google Cloud Storage.

use std::sync::Arc;

use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::{ObjectStore, StaticCredentialProvider};

use super::client::{Connector, client_options, retries};
use super::properties::{Names, Properties, invalid};
use super::vended::{Lent, Vended, milliseconds};
use crate::error::Result;

const NAMES: Names = Names {
    prefix: "gcs.",
    used: &[
        "gcs.oauth2.token",
        "gcs.oauth2.token-expires-at",
        "gcs.oauth2.refresh-credentials-enabled",
        "gcs.oauth2.refresh-credentials-endpoint",
        "gcs.no-auth",
        "gcs.service.host",
        "gcs.proxy-uri",
        "gcs.connect-timeout",
        "gcs.request-timeout",
        "gcs.read-ahead-bytes",
        "gcs.retry.num-retries",
        "gcs.retry.min-wait-ms",
        "gcs.retry.max-wait-ms",
    ],
    ignored: &[
        "gcs.access",
        "gcs.analytics-core.",
        "gcs.bucket-location",
        "gcs.cache-timeout",
        "gcs.channel.",
        "gcs.client-lib-token",
        "gcs.consistency",
        "gcs.default-bucket-location",
        "gcs.delete.",
        "gcs.project-id",
        "gcs.requester-pays",
        "gcs.session-kwargs",
        "gcs.version-aware",
    ],
    unsupported: &[
        "gcs.decryption-key",
        "gcs.encryption-key",
        "gcs.impersonate.service-account",
        "gcs.user-project",
    ],
};

const LENT: Lent<GcpCredential> = Lent {
    service: "GCS",
    endpoint: "gcs.oauth2.refresh-credentials-endpoint",
    enabled: "gcs.oauth2.refresh-credentials-enabled",
    read: |properties, _| {
        let bearer = properties.text(&["gcs.oauth2.token"])?.to_owned();
        let expires = milliseconds(properties, "gcs.oauth2.token-expires-at");
        Some((GcpCredential { bearer }, expires))
    },
};

/// Return the store of a bucket. Without a token, credentials come from the environment.
///
/// # Errors
/// `InvalidArgument`, `Unsupported`; naming a property.
pub(super) fn store(bucket: &str, properties: Properties<'_>) -> Result<Arc<dyn ObjectStore>> {
    properties.check(&NAMES)?;
    let host = properties.address("gcs.service.host")?;
    let insecure = host.as_ref().is_some_and(|url| url.scheme() == "http");
    let anonymous = properties.flag("gcs.no-auth")? == Some(true);
    let token = properties.text(&["gcs.oauth2.token"]);
    let vended = Vended::new(LENT, format!("gs://{bucket}"), bucket, properties)?;
    let mut builder = match (token, vended) {
        // Unused credentials, which keep the builder from searching for others.
        _ if anonymous => {
            GoogleCloudStorageBuilder::new().with_skip_signature(true).with_credentials(Arc::new(
                StaticCredentialProvider::new(GcpCredential { bearer: String::new() }),
            ))
        }
        (_, Some(vended)) => GoogleCloudStorageBuilder::new().with_credentials(vended),
        (Some(token), None) => GoogleCloudStorageBuilder::new().with_bearer_token(token),
        (None, None) => GoogleCloudStorageBuilder::from_env(),
    };
    builder = builder
        .with_bucket_name(bucket)
        .with_client_options(client_options(properties, "gcs.")?.with_allow_http(insecure))
        .with_retry(retries(properties, "gcs.")?)
        .with_http_connector(Connector::new(properties, "gcs.")?);
    if let Some(host) = host {
        builder = builder.with_base_url(host.as_str().trim_end_matches('/'));
    }
    Ok(Arc::new(builder.build().map_err(|error| {
        let reason = properties.redact(error.to_string());
        invalid("gcs properties", &reason)
    })?))
}

//! Amazon S3 and servers of its protocol.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, S3ConditionalPut};

use super::client::{Connector, client_options, retries};
use super::properties::{Names, Properties, invalid};
use super::signing::{self, SigningConnector};
use super::vended::{Lent, Vended, milliseconds};
use crate::error::Result;

const NAMES: Names = Names {
    prefix: "s3.",
    used: &[
        "s3.endpoint",
        "s3.region",
        "s3.access-key-id",
        "s3.secret-access-key",
        "s3.session-token",
        EXPIRES,
        signing::ENABLED,
        signing::SIGNER_URI,
        signing::SIGNER_ENDPOINT,
        "s3.anonymous",
        "s3.path-style-access",
        "s3.force-virtual-addressing",
        "s3.proxy-uri",
        "s3.connect-timeout",
        "s3.request-timeout",
        "s3.read-ahead-bytes",
        "s3.retry.num-retries",
        "s3.retry.min-wait-ms",
        "s3.retry.max-wait-ms",
        "s3.multipart.part-size-bytes",
        "s3.conditional-writes",
        BULK_DELETES,
        DELETE_ENABLED,
        "s3.sse.type",
        "s3.sse.key",
    ],
    ignored: &[
        "s3.access-grants.",
        "s3.acl",
        "s3.analytics-accelerator.",
        "s3.checksum-enabled",
        "s3.chunked-encoding-enabled",
        "s3.cross-region-access-enabled",
        "s3.crt.",
        "s3.delete.",
        "s3.directory-bucket.",
        "s3.multipart.num-threads",
        "s3.multipart.threshold",
        "s3.preload-client-enabled",
        "s3.resolve-region",
        "s3.retry-strategy-impl",
        "s3.signer.",
        "s3.sse.md5",
        "s3.staging-dir",
        "s3.use-arn-region-enabled",
        "s3.write.",
    ],
    unsupported: &[
        "s3.acceleration-enabled",
        "s3.dualstack-enabled",
        "s3.profile-name",
        "s3.role-arn",
        "s3.role-session-name",
        "s3.signer",
    ],
};

/// The property of part sizes.
pub(super) const PART_SIZE: &str = "s3.multipart.part-size-bytes";
/// The property for servers without bulk deletes.
pub(super) const BULK_DELETES: &str = "s3.bulk-deletes";
/// The property that keeps every object with `false`.
pub(super) const DELETE_ENABLED: &str = "s3.delete-enabled";
const DEFAULT_REGION: &str = "us-east-1";
const ANONYMOUS: &str = "s3.anonymous";
const EXPIRES: &str = "s3.session-token-expires-at-ms";

const LENT: Lent<AwsCredential> = Lent {
    service: "S3",
    endpoint: "client.refresh-credentials-endpoint",
    enabled: "client.refresh-credentials-enabled",
    read: |properties, _| {
        let text = |name: &str| properties.text(&[name]).map(str::to_owned);
        let credential = AwsCredential {
            key_id: text("s3.access-key-id")?,
            secret_key: text("s3.secret-access-key")?,
            token: text("s3.session-token"),
        };
        Some((credential, milliseconds(properties, EXPIRES)))
    },
};

/// Return the store of a bucket.
///
/// # Errors
/// `InvalidArgument`, `Unsupported`; naming a property.
pub(super) fn store(bucket: &str, properties: Properties<'_>) -> Result<Arc<dyn ObjectStore>> {
    properties.check(&NAMES)?;
    let builder = credentials(bucket, properties)?;
    let endpoint = match properties.address("s3.endpoint")? {
        None => of_environment(&builder)?,
        found => found,
    };
    let insecure = endpoint.as_ref().is_some_and(|url| url.scheme() == "http");
    let mut builder = builder
        .with_bucket_name(bucket)
        .with_allow_http(insecure)
        .with_client_options(client_options(properties, "s3.")?.with_allow_http(insecure))
        .with_retry(retries(properties, "s3.")?)
        .with_http_connector(Connector::new(properties, "s3.")?);
    if let Some(region) = properties.text(&["s3.region", "client.region"]) {
        builder = builder.with_region(region);
    }
    let region = builder.get_config_value(&AmazonS3ConfigKey::Region);
    let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
    if let Some(signing) = SigningConnector::new(&region, properties)? {
        builder = builder.with_skip_signature(true).with_http_connector(signing);
    }
    let virtual_host = virtual_host(bucket, endpoint.is_some(), properties)?;
    builder = builder.with_virtual_hosted_style_request(virtual_host);
    if let Some(endpoint) = endpoint {
        // The builder prefers this endpoint, which the environment may have set.
        let address = address(endpoint, bucket, virtual_host)?;
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, address);
    }
    if properties.flag("s3.conditional-writes")? == Some(false) {
        builder = builder.with_conditional_put(S3ConditionalPut::Disabled);
    }
    // All values are checked at the first use of any.
    properties.flag(DELETE_ENABLED)?;
    if properties.flag(BULK_DELETES)? == Some(false) {
        builder = builder.with_disable_bulk_delete(true);
    }
    Ok(Arc::new(encryption(builder, properties)?.build().map_err(|error| {
        let reason = properties.redact(error.to_string());
        invalid("s3 properties", &reason)
    })?))
}

/// Return a builder with credentials and region, from the environment where properties have none.
fn credentials(bucket: &str, properties: Properties<'_>) -> Result<AmazonS3Builder> {
    let id = properties.text(&["s3.access-key-id", "client.access-key-id"]);
    let secret = properties.text(&["s3.secret-access-key", "client.secret-access-key"]);
    let token = properties.text(&["s3.session-token", "client.session-token"]);
    let anonymous = properties.flag(ANONYMOUS)? == Some(true);
    let vended = Vended::new(LENT, format!("s3://{bucket}"), bucket, properties)?;
    let mut builder = match (id, secret) {
        _ if anonymous => AmazonS3Builder::new().with_skip_signature(true),
        _ if vended.is_some() => AmazonS3Builder::new(),
        (Some(id), Some(secret)) => {
            AmazonS3Builder::new().with_access_key_id(id).with_secret_access_key(secret)
        }
        (None, None) => return Ok(AmazonS3Builder::from_env()),
        (Some(_), None) => return Err(invalid("s3.secret-access-key", "is missing beside the id")),
        (None, Some(_)) => return Err(invalid("s3.access-key-id", "is missing beside the secret")),
    };
    match (vended, token) {
        _ if anonymous => {}
        (Some(vended), _) => builder = builder.with_credentials(vended),
        (None, Some(token)) => builder = builder.with_token(token),
        (None, None) => {}
    }
    let from_environment = AmazonS3Builder::from_env().get_config_value(&AmazonS3ConfigKey::Region);
    Ok(match from_environment {
        Some(region) => builder.with_region(region),
        None => builder,
    })
}

/// Return the endpoint that a builder takes from the environment.
fn of_environment(builder: &AmazonS3Builder) -> Result<Option<url::Url>> {
    let found = builder
        .get_config_value(&AmazonS3ConfigKey::S3Endpoint)
        .or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
    let Some(text) = found else { return Ok(None) };
    let parsed = url::Url::parse(&text).ok().filter(|url| url.host_str().is_some());
    parsed
        .map(Some)
        .ok_or_else(|| invalid("AWS_ENDPOINT_URL", "expected an http:// or https:// address"))
}

/// Return whether the bucket is part of the host name, as S3 prefers and few other servers support.
fn virtual_host(bucket: &str, has_endpoint: bool, properties: Properties<'_>) -> Result<bool> {
    if let Some(path_style) = properties.flag("s3.path-style-access")? {
        return Ok(!path_style);
    }
    if let Some(forced) = properties.flag("s3.force-virtual-addressing")? {
        return Ok(forced);
    }
    // The server's certificate does not cover names with a dot.
    Ok(!has_endpoint && !bucket.contains('.'))
}

fn address(mut endpoint: url::Url, bucket: &str, virtual_host: bool) -> Result<String> {
    if virtual_host {
        let host = format!("{bucket}.{}", endpoint.host_str().unwrap_or_default());
        let moved = endpoint.set_host(Some(&host));
        moved.map_err(|error| invalid("s3.endpoint", &format!("{host}: {error}")))?;
    }
    Ok(endpoint.as_str().trim_end_matches('/').to_owned())
}

fn encryption(builder: AmazonS3Builder, properties: Properties<'_>) -> Result<AmazonS3Builder> {
    let key = properties.text(&["s3.sse.key"]);
    match (properties.text(&["s3.sse.type"]).unwrap_or("none"), key) {
        ("none", _) => Ok(builder),
        ("s3", _) => encrypted_by(builder, "AES256"),
        ("kms", None) => encrypted_by(builder, "aws:kms"),
        ("kms", Some(key)) => Ok(builder.with_sse_kms_encryption(key)),
        ("custom", Some(key)) => Ok(builder.with_ssec_encryption(key)),
        ("custom", None) => Err(invalid("s3.sse.key", "is missing beside s3.sse.type=custom")),
        (other, _) => {
            Err(invalid("s3.sse.type", &format!("expected none, s3, kms or custom, got {other:?}")))
        }
    }
}

fn encrypted_by(builder: AmazonS3Builder, method: &str) -> Result<AmazonS3Builder> {
    let key = "aws_server_side_encryption".parse::<AmazonS3ConfigKey>();
    let key = key.map_err(|error| invalid("s3.sse.type", &error.to_string()))?;
    Ok(builder.with_config(key, method))
}

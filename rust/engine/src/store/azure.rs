//! Azure Blob Storage and Data Lake Storage, both through the blob protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::azure::{AzureCredential, MicrosoftAzureBuilder, split_sas};

use super::client::{Connector, client_options, retries};
use super::properties::{Names, Properties, invalid};
use super::vended::{Lent, Vended};
use crate::error::Result;

const CONNECTION_STRING: &str = "adls.connection-string";

const NAMES: Names = Names {
    prefix: "adls.",
    used: &[
        "adls.account-name",
        "adls.account-key",
        "adls.account-host",
        "adls.auth.shared-key.account.name",
        "adls.auth.shared-key.account.key",
        "adls.sas-token",
        "adls.sas-token.",
        "adls.sas-token-expires-at-ms.",
        "adls.refresh-credentials-enabled",
        "adls.refresh-credentials-endpoint",
        "adls.token",
        "adls.tenant-id",
        "adls.client-id",
        "adls.client-secret",
        CONNECTION_STRING,
        "adls.connection-string.",
        "adls.blob-storage-authority",
        "adls.blob-storage-scheme",
        "adls.anonymous",
        "adls.proxy-uri",
        "adls.connect-timeout",
        "adls.request-timeout",
        "adls.read-ahead-bytes",
        "adls.retry.num-retries",
        "adls.retry.min-wait-ms",
        "adls.retry.max-wait-ms",
    ],
    ignored: &[
        "adls.credential",
        "adls.dfs-storage-authority",
        "adls.dfs-storage-scheme",
        "adls.read.",
        "adls.write.",
    ],
    unsupported: &["adls.token-credential-provider"],
};

/// Read for an account by its host or its name.
const LENT: Lent<AzureCredential> = Lent {
    service: "MicrosoftAzure",
    endpoint: "adls.refresh-credentials-endpoint",
    enabled: "adls.refresh-credentials-enabled",
    read: |properties, account| {
        let own = |name: &str| {
            let start = format!("adls.{name}.{account}");
            let named = properties.0.range(start.clone()..);
            let mut named = named.take_while(|(name, _)| name.starts_with(&start));
            named.find(|(name, _)| matches!(name[start.len()..].chars().next(), None | Some('.')))
        };
        let (_, token) = own("sas-token")?;
        let expires = own("sas-token-expires-at-ms").and_then(|(_, at)| at.parse().ok());
        let pairs = split_sas(token.trim_start_matches('?')).ok()?;
        Some((AzureCredential::SASToken(pairs), expires))
    },
};

/// The endpoint and account, from the location and the properties.
struct Account {
    name: String,
    /// The blob endpoint.
    address: url::Url,
    key: Option<String>,
    sas: Option<String>,
}

/// Return the store of a container; `authority` is `container@account.host` or the container alone.
///
/// # Errors
/// `InvalidArgument`, `Unsupported`; naming a property.
pub(super) fn store(authority: &str, properties: Properties<'_>) -> Result<Arc<dyn ObjectStore>> {
    properties.check(&NAMES)?;
    let (container, host) = match authority.split_once('@') {
        Some((container, host)) => (container, Some(host)),
        None => (authority, None),
    };
    let account = account(host, properties)?;
    let insecure = account.address.scheme() == "http";
    let address = account.address.as_str().trim_end_matches('/').to_owned();
    let location_prefix = format!("abfs://{authority}");
    let builder = match Vended::new(LENT, location_prefix, &account.name, properties)? {
        Some(vended) => MicrosoftAzureBuilder::new().with_credentials(vended),
        None => credentials(&account, properties)?,
    };
    let builder = builder
        .with_account(account.name)
        .with_container_name(container)
        .with_endpoint(address)
        .with_allow_http(insecure)
        .with_client_options(client_options(properties, "adls.")?.with_allow_http(insecure))
        .with_retry(retries(properties, "adls.")?)
        .with_http_connector(Connector::new(properties, "adls.")?);
    Ok(Arc::new(builder.build().map_err(|error| {
        let reason = properties.redact(error.to_string());
        invalid("adls properties", &reason)
    })?))
}

fn credentials(account: &Account, properties: Properties<'_>) -> Result<MicrosoftAzureBuilder> {
    let builder = MicrosoftAzureBuilder::new();
    let text = |name: &str| properties.text(&[name]);
    let principal = (text("adls.client-id"), text("adls.client-secret"), text("adls.tenant-id"));
    if properties.flag("adls.anonymous")? == Some(true) {
        // An unused key, which keeps the builder from searching for others.
        return Ok(builder.with_skip_signature(true).with_access_key(""));
    }
    if let Some(key) = &account.key {
        return Ok(builder.with_access_key(key));
    }
    if let Some(sas) = &account.sas {
        let pairs = split_sas(sas).map_err(|_| invalid("adls.sas-token", "is no such token"))?;
        return Ok(builder.with_sas_authorization(pairs));
    }
    if let Some(token) = text("adls.token") {
        return Ok(builder.with_bearer_token_authorization(token));
    }
    match principal {
        (Some(id), Some(secret), Some(tenant)) => {
            Ok(builder.with_client_secret_authorization(id, secret, tenant))
        }
        (None, None, None) => Ok(MicrosoftAzureBuilder::from_env()),
        _ => Err(invalid(
            "adls.client-id",
            "adls.client-id, adls.client-secret and adls.tenant-id go together",
        )),
    }
}

fn account(host: Option<&str>, properties: Properties<'_>) -> Result<Account> {
    let of_host = |name: &str| host.and_then(|host| properties.text(&[&format!("{name}.{host}")]));
    let connection = match of_host(CONNECTION_STRING).or(properties.text(&[CONNECTION_STRING])) {
        Some(text) => connection_parts(text)?,
        None => BTreeMap::new(),
    };
    let from_host = host.and_then(|host| host.split('.').next()).filter(|name| !name.is_empty());
    let from_environment = || {
        MicrosoftAzureBuilder::from_env()
            .get_config_value(&object_store::azure::AzureConfigKey::AccountName)
    };
    let name = from_host
        .or_else(|| properties.text(&["adls.account-name", "adls.auth.shared-key.account.name"]))
        .or_else(|| connection.get("accountname").copied())
        .map(str::to_owned)
        .or_else(from_environment)
        .ok_or_else(|| {
            invalid("adls.account-name", "is missing, and the location names no account")
        })?;
    let sas = of_host("adls.sas-token")
        .or_else(|| properties.text(&[&format!("adls.sas-token.{name}"), "adls.sas-token"]))
        .or_else(|| connection.get("sharedaccesssignature").copied());
    let key = properties
        .text(&["adls.account-key", "adls.auth.shared-key.account.key"])
        .or_else(|| connection.get("accountkey").copied());
    Ok(Account {
        address: address(&name, host, &connection, properties)?,
        key: key.map(str::to_owned),
        sas: sas.map(|text| text.trim_start_matches('?').to_owned()),
        name,
    })
}

fn address(
    name: &str,
    host: Option<&str>,
    connection: &BTreeMap<String, &str>,
    properties: Properties<'_>,
) -> Result<url::Url> {
    let scheme = properties.text(&["adls.blob-storage-scheme"]).unwrap_or("https");
    let text = if let Some(endpoint) = connection.get("blobendpoint") {
        (*endpoint).to_owned()
    } else if let Some(host) = properties.text(&["adls.account-host"]) {
        format!("{scheme}://{host}")
    } else if let Some(authority) = properties.text(&["adls.blob-storage-authority"]) {
        format!("{scheme}://{name}{authority}")
    } else if let Some(suffix) = connection.get("endpointsuffix") {
        format!("{scheme}://{name}.blob.{suffix}")
    } else {
        // The blob protocol has a host of its own beside the data lake's.
        let host =
            host.filter(|host| host.contains('.')).map(|it| it.replacen(".dfs.", ".blob.", 1));
        format!("{scheme}://{}", host.unwrap_or_else(|| format!("{name}.blob.core.windows.net")))
    };
    let parsed = url::Url::parse(&text).ok().filter(|url| url.host_str().is_some());
    parsed.ok_or_else(|| invalid("adls properties", "they make no address of the account"))
}

/// Parse `Name=value;...` into values by names in lower case.
fn connection_parts(text: &str) -> Result<BTreeMap<String, &str>> {
    let parts = text.split(';').filter(|part| !part.trim().is_empty());
    let pairs = parts.map(|part| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_ascii_lowercase(), value.trim()))
    });
    let parsed: Option<BTreeMap<_, _>> = pairs.collect();
    parsed.ok_or_else(|| invalid(CONNECTION_STRING, "is not made of Name=value parts"))
}

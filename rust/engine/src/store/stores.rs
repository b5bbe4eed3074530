//! The clients of this process, one for each bucket and set of properties.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use object_store::ObjectStore;
use object_store::limit::LimitStore;

use super::location::{RemoteLocation, Service};
use super::properties::Properties;
use super::{azure, gcs, http, s3};
use crate::error::Result;
use crate::runtime::PerProcess;

/// The most concurrent requests of one client.
const REQUESTS: usize = 64;
/// The most cached clients. Vended credentials change hourly, and each set has a client.
const MOST_CLIENTS: usize = 64;

type Key = (Service, String, Arc<BTreeMap<String, String>>);
type Clients = Mutex<HashMap<Key, Arc<dyn ObjectStore>>>;

static STORES: PerProcess<Clients> = PerProcess::new();

/// Return the client for a location.
///
/// # Errors
/// `InvalidArgument`, `Unsupported` for properties of no valid client.
pub(super) fn store(
    location: &RemoteLocation<'_>,
    properties: &Arc<BTreeMap<String, String>>,
) -> Result<Arc<dyn ObjectStore>> {
    let stores = STORES.get(|| Ok(Mutex::default()))?;
    let key = (location.service, location.authority.to_owned(), Arc::clone(properties));
    if let Some(found) = stores.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(Arc::clone(found));
    }
    let made = build(location, Properties(properties))?;
    let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
    if stores.len() >= MOST_CLIENTS {
        stores.clear();
    }
    Ok(Arc::clone(stores.entry(key).or_insert(made)))
}

fn build(
    location: &RemoteLocation<'_>,
    properties: Properties<'_>,
) -> Result<Arc<dyn ObjectStore>> {
    let store = match location.service {
        Service::S3 => s3::store(location.authority, properties)?,
        Service::Gcs => gcs::store(location.authority, properties)?,
        Service::Azure => azure::store(location.authority, properties)?,
        Service::Http { tls } => http::store(location.authority, tls, properties)?,
    };
    Ok(Arc::new(LimitStore::new(store, REQUESTS)))
}

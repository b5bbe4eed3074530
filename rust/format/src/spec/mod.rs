//! The spec's nouns: types, schemas, partition specs, values.

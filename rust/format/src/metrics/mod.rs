//! Column metrics: modes and bound truncation.

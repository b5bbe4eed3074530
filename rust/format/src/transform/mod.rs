//! Partition transforms: one scalar rule, one kernel over an Arrow array.

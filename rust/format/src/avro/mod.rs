//! Avro object containers, decoded by block.

//! Every error variant, mapped to its class in `icefloe.exceptions`.

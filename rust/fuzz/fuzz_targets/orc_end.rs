#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| icefloe_fuzz::targets::orc_end(bytes));

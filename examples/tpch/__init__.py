"""The parts of the TPC-H pipeline."""

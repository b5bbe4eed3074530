"""Row-level changes: merges and upserts, and the target and clauses that all of them share."""

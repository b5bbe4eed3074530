"""Expiry of snapshots: what retention keeps, the plan and its execution."""

"""Committing: transactions, snapshot producers, conflict checks, retries."""

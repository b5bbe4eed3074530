"""Filters."""

def validate_filter(context: str, filter: str) -> str:
    """Bind a filter to the context's schema and return it as JSON, names resolved; ResolveError for an unknown column."""

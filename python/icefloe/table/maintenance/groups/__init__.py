"""What rewrites of files share: their options, the files of a table, and groups of files."""

"""The common parts of file rewrites: options, the files of a table, and groups of files."""

"""Access to files, by location. Spec: File System Operations."""

from __future__ import annotations

from icefloe.io.file_io import FileIO, InputFile, OutputFile, OutputStream, current_directory, load_file_io

# Catalog property: where new tables go.
WAREHOUSE = "warehouse"

__all__ = ["WAREHOUSE", "FileIO", "InputFile", "OutputFile", "OutputStream", "current_directory", "load_file_io"]

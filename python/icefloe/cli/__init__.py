"""The `icefloe` command: look at tables, change them and maintain them from a shell. It needs the extra `cli`."""

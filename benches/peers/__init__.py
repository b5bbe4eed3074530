"""icefloe beside its peers: the same files, the same machine, in turn, in one run."""

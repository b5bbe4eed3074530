"""The pieces of ``icefloe._core``'s stub, one for each source file of the bindings; nothing of this name exists at run time."""

"""Concurrent appends of several processes, icefloe beside PyIceberg."""

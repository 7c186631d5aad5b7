"""Merging: loops by their dependences, entries that are numbers or unread, buffers that lose axes, parallel loops."""

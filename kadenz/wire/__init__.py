"""Frames to records: the wire format of docs/reference/wire-format.md."""

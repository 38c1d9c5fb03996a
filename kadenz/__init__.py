"""kadenz: the open benchmark lab for real-time systems."""

__version__ = "0.1.0"

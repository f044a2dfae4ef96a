"""Ordering and asynchronous work: what is read before it is there, or not seen at all."""

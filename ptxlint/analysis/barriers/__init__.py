"""Barriers of the block, and other instructions that all lanes of a warp must execute together."""

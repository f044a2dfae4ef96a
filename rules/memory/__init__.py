"""Category 3: memory accesses: alignment, state spaces, banks, coalescing."""

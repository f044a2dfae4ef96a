"""What the ISA says, as data and thin access to it."""

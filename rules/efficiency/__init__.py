"""Category 8: efficiency: what costs more than it must."""

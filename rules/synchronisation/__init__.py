"""Category 2: warps and blocks that must meet: member masks, barriers, races."""

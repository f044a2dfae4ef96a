"""Category 1: what the assembler rejects as it reads: syntax, names, operands."""

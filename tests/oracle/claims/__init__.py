"""Claims of the analyses, each held against what happens when a kernel runs."""

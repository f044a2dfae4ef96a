"""What values mean to each other: undefined ones, dead ones, the carry, fragments of a matrix.

Pure functions of the IR over ``analysis/flow``, computed through ``Facts.once``.
"""

"""What a function does to memory: every access, the object that its address is based on.

Pure functions of the IR, computed through ``Facts.once``.
"""

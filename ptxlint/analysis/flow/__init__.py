"""Control and data flow of one function: blocks, dominance, loops, liveness, values.

Everything here is a pure function of the IR, computed through ``Facts.once``. Instructions are
named by their index in ``Function.instructions``, blocks by their index in the text's order,
registers by an index of first mention; sets of blocks and of registers are plain ints, bit *i*
for member *i*.
"""

"""Which instructions of a function depend on which, and in what order memory sees them.

``graph`` is the whole as a networkx graph; ``ordering`` the light form that rules walk.
"""

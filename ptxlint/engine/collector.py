"""Python's cyclic garbage collector, held back while a file is looked at.

A file's module and facts are hundreds of thousands of objects that all stay until its report is
made: collections in between only walk them, again and again.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[None]:
    """No collections within; afterwards as before, so that the next takes what is garbage by then.

    Where the collector is off already, it stays off.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def held_back_to_the_end() -> Iterator[None]:
    """The same around the last work of a process, whose memory goes back as a whole.

    What is there afterwards counts as old, so that no collection is due; at exit none is made.
    """
    with held_back():
        try:
            yield
        finally:
            # Both take no time; the first resets the counts that make a collection due.
            gc.freeze()
            gc.unfreeze()
            atexit.unregister(gc.freeze)
            atexit.register(gc.freeze)

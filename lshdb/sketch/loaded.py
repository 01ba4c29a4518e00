"""Loads the compiled kernels when it is imported: 0.2 s that processes forked afterwards do not spend again."""

from __future__ import annotations

from lshdb.model.params import Params
from lshdb.sketch import kernels
from lshdb.sketch.sketch import sketch_encoded

kernels.begin_with_reference(0)
# Without the texts: packing them would start a thread, and a process with threads must not be forked.
sketch_encoded([b"a text of some words that has a few shingles"], Params())

"""The compiled kernels for separators, in the build that makes the most of this processor."""

from __future__ import annotations

from . import _separators
from .builds import builds

LEVELS = {3: "_separators_v3"}  # of x86-64; wider vectors than those of level 3 are not faster


BUILDS = builds(_separators, LEVELS)
best = BUILDS[-1].best
expect = BUILDS[-1].expect
loss = BUILDS[-1].loss
messages = BUILDS[-1].messages
total = BUILDS[-1].total

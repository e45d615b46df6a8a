"""The view of somebody who has learnt nothing: every sentence is as likely as any other."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from .view import Suggestion


class Unknowing:
    """Expects nothing and suggests nothing; chooses batches as long as nothing could be learnt."""

    def __init__(self, sentences: int):
        self.sentences = sentences

    @property
    def expected(self) -> Floats:
        """Nothing."""
        return np.zeros(self.sentences)

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        """None."""
        return []

    def entropy(self) -> Floats:
        """No sentence is less certain than others."""
        return np.zeros(self.sentences)

    def margin(self) -> Floats:
        """Nothing is more probable than anything else."""
        return np.zeros(self.sentences)

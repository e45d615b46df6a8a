"""Learning in the background, one thing at a time, while somebody goes on working."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Literal

from ..span import Span
from .pool import Pool
from .pool_learner import PoolLearner
from .view import View

Answers = Mapping[int, Sequence[Span]]
Status = Literal["idle", "training", "failed"]
MOST = 4
"""How often a new recogniser learns from the same answers; one that goes on does it once."""


class Trainer:
    """Trains a recogniser in a thread and hands each view to `done`, or None if that failed.

    That happens under a `lock`, which whoever calls any method holds as well, but for `wait`.
    `trouble` is what went wrong last, `seconds` how long the last training took.
    """

    def __init__(
        self, pool: Pool, seed: int, lock: threading.RLock, done: Callable[[View | None], None]
    ):
        self.pool, self.seed, self.lock, self.done = pool, seed, lock, done
        self.status: Status = "idle"
        self.trouble = ""
        self.seconds = 0.0
        self._learner: PoolLearner | None = None
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether it is learning."""
        return self.status == "training"

    def start(self, answers: Answers, rounds: int = 0) -> None:
        """Begin to learn from a copy of answers, unless something is being learnt.

        A recogniser that has learnt in so many rounds before, and was lost, catches up with them.
        """
        if self.busy:
            return
        self.status = "training"
        passes = 1 if self._learner is not None else min(rounds + 1, MOST)
        work = threading.Thread(target=self._learn, args=(dict(answers), passes), daemon=True)
        self._thread = work
        work.start()

    def wait(self) -> None:
        """Return when nothing is being learnt."""
        while self.busy and self._thread is not None:
            self._thread.join()

    def _learn(self, answers: Answers, passes: int) -> None:
        begin, view, trouble = perf_counter(), None, ""
        try:
            if self._learner is None:
                self._learner = PoolLearner(self.pool, self.seed)
            for _ in range(passes):
                view = self._learner.learn(answers)
        except Exception as error:  # whatever it is, the person goes on
            self._learner, trouble = None, f"{type(error).__name__}: {error}"
        with self.lock:
            self.seconds, self.trouble = perf_counter() - begin, trouble
            self.status = "failed" if trouble else "idle"
            self.done(view)

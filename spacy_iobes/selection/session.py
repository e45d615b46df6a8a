"""A session of annotation on disk: what to read next, what was answered, and how far that goes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

from ..errors import FileError, IobesError, SettingError, StaleError, UnknownNameError
from ..span import Span
from .checks import checked_spans
from .folder import JOURNAL, LOCK, SETTINGS, create_folder, read_pool, require_session
from .journal import Journal, read_journal
from .ledger import ANSWERS, Answer, Decision
from .lock import Lock
from .pool import Pool
from .progress import Progress, progress_of
from .reading import Reading
from .replay import replayed
from .rounds import added_records, first_records, next_records, now
from .settings import Settings
from .task import SUGGESTED, Task, Why
from .trainer import Trainer
from .view import View

EARLY = 0.1
"""The share of a batch that is still unread when the next one is prepared."""


class Session:
    """A folder, open for one process; several threads may use it.

    Every decision is on disk when `decide` returns. A recogniser learns in the background when a
    batch is nearly read; then the next batch is chosen. A person who is faster than that goes on
    with what was skipped, or waits. `torn` says whether the last line of the journal was not
    finished, and was cut off.
    """

    def __init__(self, folder: str | Path, write: bool = True):
        require_session(folder)
        self.folder = Path(folder)
        self._lock = threading.RLock()
        self._held = Lock(self.folder / LOCK) if write else None
        self._journal: Journal | None = None
        try:
            self.settings = Settings.load(self.folder / SETTINGS)
            self.pool = read_pool(self.folder, self.settings)
            path = self.folder / JOURNAL
            self._journal = Journal(path) if write else None
            records = self._journal.records if self._journal else read_journal(path).records
            self._ledger = replayed(records, path, len(self.pool), self.checked)
        except BaseException:
            self.close()
            raise
        self.torn = self._journal is not None and self._journal.torn
        self.view: View | None = None
        self.trainer = Trainer(self.pool, self.settings.seed, self._lock, self._learned)
        with self._lock:
            self._go_on()

    @classmethod
    def create(
        cls, folder: str | Path, pool: Pool, settings: Settings, keep: bool = False
    ) -> Session:
        """A new session in a folder that is new or empty.

        Mentions of target labels that the pool has are dropped; if they are to `keep`, the
        sentences that have some count as read.
        """
        settings = replace(settings, digest=pool.digest, labels=pool.labels, nested=pool.nested)
        create_folder(folder, pool, settings, first_records(pool, settings, keep))
        return cls(folder)

    @classmethod
    def open(cls, folder: str | Path) -> Session:
        """Go on with a session."""
        return cls(folder)

    @classmethod
    def resume(cls, folder: str, given: Mapping[str, Any], tell: Callable[[str], None]) -> Session:
        """Go on with a session under other settings, if these can change, and tell what is new."""
        session = cls.open(folder)
        if session.torn:
            tell(
                f"{session.folder / JOURNAL}: the last line was cut off by a crash, and is "
                "removed. Every answer that was acknowledged is there."
            )
        before = session.settings
        try:
            session.change(**given)
        except IobesError as error:
            session.close()
            raise SettingError(f"{folder}: {error}") from error
        for name, value in given.items():
            if getattr(before, name) != value:
                tell(f"{folder}: {name} is {value} from now on (before: {getattr(before, name)})")
        return session

    @classmethod
    def look(cls, folder: str | Path) -> Session:
        """A session as it is now, which cannot be changed; somebody else may go on with it."""
        return cls(folder, write=False)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def number(self) -> int:
        """The number that the next decision will have."""
        with self._lock:
            return self._ledger.made + 1

    @property
    def last(self) -> Decision | None:
        """The last decision that stands, which `undo` takes back."""
        with self._lock:
            return self._ledger.standing[-1] if self._ledger.standing else None

    @property
    def decisions(self) -> list[Decision]:
        """Those that stand."""
        with self._lock:
            return list(self._ledger.standing)

    @property
    def reading(self) -> Reading:
        """What was read; not to be changed."""
        return self._ledger.reading

    def decided(self) -> dict[int, Decision]:
        """What was decided last on each sentence."""
        with self._lock:
            return {made.sentence: made for made in self._ledger.standing}

    def task(self, exclude: Container[int] = ()) -> Task | None:
        """What to read next; None if there is nothing (at the end, or as long as it learns)."""
        with self._lock:
            found = self._ledger.next_sentences(1, exclude)
            view = self.view
            why = self._why(found[0]) if found else "first"
        if not found:
            return None
        suggested = view.suggestions(found[0], SUGGESTED) if view is not None else []
        return Task.of(self.pool, found[0], suggested, why)

    def _why(self, sentence: int) -> Why:
        if sentence in self._ledger.skipped:
            return "skipped"
        if sentence in self._ledger.reading.audit:
            return "audit"
        if sentence in self._ledger.drawn:
            return "drawn"
        return "ranked" if sentence in self._ledger.ranked else "first"

    def decide(
        self,
        sentence: int,
        answer: Answer,
        spans: Iterable[Sequence[object]] = (),
        number: int | None = None,
    ) -> Decision:
        """Answer a sentence; when this returns, that is on disk.

        With a `number`, the decision is taken only if that is the next one; sent again, it is taken
        once, and anything else is a StaleError.
        """
        if answer not in ANSWERS:
            known = ", ".join(ANSWERS)
            raise UnknownNameError(f"Unknown answer {answer!r}. Known: {known}.", answer, ANSWERS)
        if type(sentence) is not int or not 0 <= sentence < len(self.pool):
            message = f"There is no sentence {sentence!r}: they are 0 to {len(self.pool) - 1}."
            raise UnknownNameError(message, str(sentence))
        found = self.checked(sentence, spans) if answer == "accept" else ()
        with self._lock:
            made = Decision(self._ledger.made + 1, sentence, answer, found, now())
            if number is not None and number != made.number:
                return self._taken(made._replace(number=number))
            self._write(made.as_record())
            self._go_on()
            return made

    def checked(self, sentence: int, spans: Iterable[Sequence[object]]) -> tuple[Span, ...]:
        """The spans in order, if they can be the mentions of a sentence; raises if not."""
        pool, known = self.pool, self.pool.known(sentence)
        length = int(pool.offsets[sentence + 1] - pool.offsets[sentence])
        return checked_spans(spans, length, pool.labels, pool.nested, known)

    def add(self, answers: Mapping[int, tuple[Answer, tuple[Span, ...]]]) -> tuple[int, int, int]:
        """Take answers from elsewhere, all on disk at once: how many are new, changed, the same.

        If some are new, all of these sentences count as chosen: the audit is a random sample of
        those that nobody has chosen, so they are no part of it any more.
        """
        with self._lock:
            records, new, changed = added_records(self._ledger, answers)
            self._write(*records)
            self._go_on()
            return new, changed, len(answers) - new - changed

    def _taken(self, made: Decision) -> Decision:
        """The same decision, if it was taken before and stands."""
        for known in reversed(self._ledger.standing):
            if known.number == made.number and known[:4] == made[:4]:
                return known
        raise StaleError(
            f"Decision {made.number} is not the next one, which is {self._ledger.made + 1}: "
            "somebody went on elsewhere. Ask for the task again."
        )

    def undo(self, number: int | None = None) -> Decision | None:
        """Take back the last decision that stands; None if there is none.

        With a `number`, only if it is that one; what was taken back before is not taken back again.
        """
        with self._lock:
            last = self.last
            if number is not None and (last is None or last.number != number):
                if any(made.number == number for made in self._ledger.standing):
                    raise StaleError(f"Decision {number} is not the last one any more.")
                return None
            if last is not None:
                self._write({"undo": last.number})
                self._go_on()
            return last

    def progress(self) -> Progress:
        """How far it is."""
        with self._lock:
            return progress_of(self.pool, self.settings, self._ledger, self.view, self.trainer)

    def change(self, **given: Any) -> None:
        """Change settings that may change on the way, also on disk; raises for all others."""
        with self._lock:
            settings = self.settings.changed(given)
            if settings != self.settings:
                self._require_open()
                settings.save(self.folder / SETTINGS)
                self.settings = settings

    def wait(self) -> None:
        """Return when nothing is being learnt."""
        self.trainer.wait()

    def learn(self) -> None:
        """Learn from what was read, if there is no view yet, and return when that is done."""
        with self._lock:
            if self.view is None and (taught := self._ledger.reading.taught()):
                self.trainer.start(taught, len(self._ledger.rounds))
        self.wait()

    def close(self) -> None:
        """Let others have the folder; what is being learnt is lost, and learnt again later."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
            self._journal = None
            if self._held is not None:
                self._held.release()

    def _low(self) -> bool:
        """Whether it is time for the next batch, and there is something to choose from."""
        few = len(self._ledger.unread) <= ceil(EARLY * self.settings.batch)
        return few and len(self._ledger.asked) < len(self.pool)

    def _write(self, *records: dict[str, Any]) -> None:
        """Put records on disk, then into the ledger."""
        self._require_open().append(*records)
        for record in records:
            self._ledger.apply(record)

    def _require_open(self) -> Journal:
        if self._journal is None:
            message = f"{self.folder}: not open for writing. Open the session again."
            raise FileError(message, str(self.folder))
        return self._journal

    def _go_on(self) -> None:
        """Begin to learn if a batch is nearly read, or to know again what was known before."""
        if self._journal is None or self.trainer.busy:
            return
        taught, low = self._ledger.reading.taught(), self._low()
        enough = self._ledger.rounds or len(taught) >= self.settings.batch
        lost = self.view is None and self.trainer.status != "failed" and enough
        if taught and (low or lost):
            self.trainer.start(taught, len(self._ledger.rounds))
        elif low:
            self._choose()

    def _learned(self, view: View | None) -> None:
        """Take a view from the trainer, and choose the next batch if it is time."""
        self.view = view or self.view
        if self._journal is not None and self._low():
            try:
                self._choose()
            except FileError as error:  # shown; the next decision tries again
                self.trainer.trouble, self.trainer.status = str(error), "failed"

    def _choose(self) -> None:
        """Choose the next batch, and keep what is estimated now."""
        self._write(*next_records(self.view, self._ledger, self.settings))

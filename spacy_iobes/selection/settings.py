"""The settings of a session: what is looked for, how much at a time, and when it is enough."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from ..codes.scheme import get_scheme
from ..corpus.files import write_bytes
from ..corpus.formats.options import ADVANCED, option
from ..errors import FileError, SettingError, UnknownNameError
from ..names import known_name

RuleName = Literal["estimate", "corrected", "audit", "never"]
Start = Literal["first", "random", "words"]
CHANGING = ("target", "rule", "patience")
"""What may change while a session goes on: when it is enough, but not what is asked."""


@dataclass(frozen=True)
class Settings:
    """What a session looks for and how; `digest` is that of its corpus.

    `batch` sentences are chosen at a time, the share `audit` of them at random. `target` is the
    coverage at which `rule` says stop, once it holds for as many rounds as `patience` says.
    `scheme` was that of exported columns in version 0.1.0.
    """

    labels: tuple[str, ...] = option(
        MISSING, "What to look for; repeat it for several.", option="--label"
    )
    nested: bool = option(False, "Mentions may lie in others.")
    batch: int = option(100, "Sentences between two trainings.")
    audit: float = option(0.1, "The share drawn at random, which the interval is from.", ADVANCED)
    target: float = option(0.99, "The coverage to stop at.")
    rule: str = option(
        "estimate",
        "Which estimate of the coverage has to reach the target: the model's, that one corrected "
        "by the audit, or the low end of the audit",
        ADVANCED,
        RuleName,
    )
    patience: int = option(
        2, "How many times in a row the rule has to hold before it is enough.", ADVANCED
    )
    seed: int = option(0, "Seed of what is drawn at random.")
    start: str = option(
        "first",
        "What to read first; words: sentences that hold one of --words",
        ADVANCED,
        Start,
    )
    words: tuple[str, ...] = option((), "With --set start=words: a word; repeat it for several.")
    scheme: str = "bio"
    digest: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.labels), "labels", "name at least one")
        _require(len(set(self.labels)) == len(self.labels), "labels", "name each once")
        for label in self.labels:
            good = isinstance(label, str) and label.split() == [label]
            _require(good, "labels", _unfit(label))
        _require(type(self.batch) is int and self.batch >= 1, "batch", f"{self.batch} < 1")
        _require(0 <= self.audit < 1, "audit", f"{self.audit} is no share from 0 to below 1")
        _require(0 < self.target <= 1, "target", f"{self.target} is no share above 0")
        _require(type(self.seed) is int and self.seed >= 0, "seed", f"{self.seed} < 0")
        known_name("start", self.start, Start)
        known_name("stopping rule", self.rule, RuleName)
        if self.start == "words":
            _require(bool(self.words), "words", "name those that the first sentences are to hold")
        _require(type(self.patience) is int and self.patience >= 1, "patience", "at least 1")
        get_scheme(self.scheme)

    def changed(self, given: Mapping[str, Any]) -> Settings:
        """The same with other values; raises for those that cannot change any more."""
        for name, value in given.items():
            before = getattr(self, name)
            if before != value and name not in CHANGING:
                raise SettingError(
                    f"This session was begun with {name} = {before!r}, not {value!r}, which cannot "
                    f"change any more; {', '.join(CHANGING)} can. Leave the option out, or name "
                    "another folder."
                )
        return replace(self, **given)

    def save(self, path: str | Path) -> None:
        """Write a file, all at once or not at all."""
        with write_bytes(path) as put:
            put((json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n").encode("utf8"))

    @classmethod
    def load(cls, path: str | Path) -> Settings:
        """Read a file that `save` has written."""
        try:
            given = json.loads(Path(path).read_text(encoding="utf8"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise FileError(f"{path}: cannot be read: {reason}.", str(path)) from error
        except ValueError as error:
            raise FileError(f"{path}: no JSON ({error}). Restore it.", str(path)) from error
        return cls._of(given, path)

    @classmethod
    def _of(cls, given: Any, path: str | Path) -> Settings:
        known = {field.name for field in fields(cls)}
        if not isinstance(given, Mapping) or not set(given) <= known:
            message = (
                f"{path}: not the settings of a session, which are {', '.join(sorted(known))}."
            )
            raise FileError(message, str(path))
        lists = {name: tuple(given[name]) for name in ("labels", "words") if name in given}
        try:
            return cls(**{**given, **lists})
        except (TypeError, SettingError, UnknownNameError) as error:
            raise FileError(f"{path}: {error}", str(path)) from error


def _unfit(label: object) -> str:
    """Why something is no label, and what to use."""
    joined = "_".join(str(label).split())
    if not joined:
        return f"{label!r} is empty"
    return f"{label!r} has white space, which separates columns in files of tags; use {joined!r}"


def _require(good: bool, name: str, reason: str) -> None:
    if not good:
        raise SettingError(f"The setting {name!r} of a session: {reason}.")

"""The component `iobes_validator`: which tags of a Doc are illegal, and where."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, get_args

from spacy.tokens import Doc

from ..codes.scheme import get_scheme
from ..corpus.sources import get_source, shown
from ..corpus.tagged import TaggedDocs, Unit
from ..errors import SHOWN, MalformedTagsWarning
from ..scoring.signature import known
from .doc_pipe import DocPipe, Scorer
from .marks import mark_violations

OnError = Literal["warn", "raise", "ignore"]


class Validator(DocPipe):
    """Records violations in `doc._.iobes_violations` and changes nothing else."""

    def __init__(
        self,
        name: str,
        *,
        scheme: str,
        source: str = "user_data",
        unit: Unit = "doc",
        on_error: OnError = "warn",
        scorer: Scorer | None = None,
    ):
        super().__init__(name, scorer)
        self.scheme = get_scheme(scheme)
        self.source = get_source(source, self.scheme)
        self.unit: Unit = unit
        self.on_error: OnError = on_error
        known("on_error", on_error, get_args(OnError))

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Look at all Docs, then complain as asked, then record."""
        tagged = TaggedDocs.read(docs, self.source, self.scheme, self.unit)
        if self.on_error == "raise":
            tagged.require_legal()
        for doc, violations in zip(docs, tagged.violations()):
            if violations and self.on_error == "warn":
                listed = "; ".join(map(str, violations[:SHOWN]))
                more = f"; and {len(violations) - SHOWN} more" if len(violations) > SHOWN else ""
                message = f"{self.name}: {shown(doc)} is not legal {self.scheme.name}: "
                warnings.warn(f"{message}{listed}{more}.", MalformedTagsWarning, stacklevel=2)
            mark_violations(doc, violations)

"""The place where tags become spans in spaCy."""

from .about import __version__
from .codes.best import TagScores
from .codes.check import check
from .codes.new_scheme import add_scheme
from .codes.parse import parse, parse_many, validate, validate_many
from .codes.policy import POLICIES
from .codes.scheme import SCHEMES, Scheme
from .codes.span_columns import SpanColumns
from .codes.tag_columns import CodedTags, ViolationColumns
from .codes.transitions import mask, transitions
from .codes.violation import Violation
from .codes.write import (
    Repaired,
    RepairedMany,
    convert,
    convert_many,
    repair,
    repair_many,
    write,
    write_many,
)
from .corpus.corpus import Corpus, read, save
from .corpus.formats import FORMATS, add_format
from .corpus.sentences import Sentences
from .scoring.counts import Counts
from .scoring.report import Report
from .scoring.score import score
from .scoring.signature import Signature
from .span import Span

__all__ = [
    "FORMATS",
    "POLICIES",
    "SCHEMES",
    "CodedTags",
    "Corpus",
    "Counts",
    "Repaired",
    "RepairedMany",
    "Report",
    "Scheme",
    "Sentences",
    "Signature",
    "Span",
    "SpanColumns",
    "TagScores",
    "Violation",
    "ViolationColumns",
    "__version__",
    "add_format",
    "add_scheme",
    "check",
    "convert",
    "convert_many",
    "mask",
    "parse",
    "parse_many",
    "read",
    "repair",
    "repair_many",
    "save",
    "score",
    "transitions",
    "validate",
    "validate_many",
    "write",
    "write_many",
]

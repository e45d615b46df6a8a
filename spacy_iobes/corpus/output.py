"""Column files written back: by default nothing but the tags changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..codes.tag_columns import CodedTags
from ..errors import FileError
from ..kernels.columns_numpy import columns_of
from .conll import Part


@dataclass(frozen=True)
class Output:
    """How to write lines whose tags may have changed: by default, as they were.

    With `append` the tags are one more column, and a delimiter is only written before it.
    """

    delimiter: str | None = None
    only_token_and_tag: bool = False
    append: bool = False

    def render(self, part: Part, tags: CodedTags) -> bytes:
        """The bytes of a part with other tags."""
        names = [tag.encode() for tag in tags.tags]
        scanned = part.scanned
        between = self.delimiter.encode() if self.delimiter else part.layout.delimiter
        for name in names:
            if _breaks(name, between):
                raise FileError(f"{part.name}: the tag {name.decode()!r} would break its column.")
        if self.append:
            ends = [_line(part, i)[1] for i in range(len(tags.codes))]
            places = np.array(ends, dtype=np.int32), np.array(ends, dtype=np.int32)
            rows = [(between or b" ") + name for name in names]
            return kernels.splice(part.buffer, *places, tags.codes, rows)
        if self == Output():
            places = scanned.tag_begin, scanned.tag_end
            return kernels.splice(part.buffer, *places, tags.codes, names)
        rows = [self._row(part, i, names[code]) for i, code in enumerate(tags.codes.tolist())]
        bounds = [_line(part, i) for i in range(len(rows))]
        begin, end = (np.array([bound[k] for bound in bounds], dtype=np.int32) for k in (0, 1))
        return kernels.splice(part.buffer, begin, end, np.arange(len(rows), dtype=np.int32), rows)

    def _row(self, part: Part, i: int, tag: bytes) -> bytes:
        begin, end = _line(part, i)
        row = part.buffer[begin:end]
        fields = [row[a:b] for a, b in columns_of(row, part.layout.delimiter)]
        fields[part.layout.tag] = tag
        if self.only_token_and_tag:
            fields = [fields[part.layout.token], tag]
        if not self.delimiter:
            return (part.layout.delimiter or b" ").join(fields)
        for field in fields:
            if _breaks(field, self.delimiter.encode()):
                place = f"{part.name}, line {part.flat_number(i)}"
                raise FileError(f"{place}: {field.decode()!r} holds the delimiter to be written.")
        return self.delimiter.encode().join(fields)


def _breaks(field: bytes, delimiter: bytes) -> bool:
    """Whether a field would not be read back as one: empty delimiters are white space."""
    held = (delimiter,) if delimiter else (b" ", b"\t")
    return any(each in field for each in (*held, b"\n", b"\r"))


def _line(part: Part, i: int) -> tuple[int, int]:
    """Where the line of a token begins and ends, without its line end."""
    begin = part.buffer.rfind(b"\n", 0, part.scanned.token_begin[i]) + 1
    end = part.buffer.find(b"\n", begin)
    end = len(part.buffer) if end < 0 else end
    return begin, end - part.buffer[begin:end].endswith(b"\r")

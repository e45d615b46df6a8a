"""One tag: a prefix, a hyphen and a label; the only place that takes tags apart."""

from __future__ import annotations

from .scheme import OUTSIDE, Scheme


def split_tag(tag: str) -> tuple[str, str]:
    """Split at the first hyphen: `B-ORG` is (B, ORG), `B-side-B` is (B, side-B), `B` is (B, "")."""
    prefix, _, label = tag.partition("-")
    return prefix, label


def join_tag(prefix: str, label: str) -> str:
    """Put a tag together; without a label it is the prefix alone."""
    return f"{prefix}-{label}" if label else prefix


def read_tag(tag: str, scheme: Scheme, silent: bool = False) -> tuple[str, str] | None:
    """Split a tag of the scheme; None if it is not one (`X-ORG`, `B-`, `O-ORG`, `""`).

    A prefix that is not written makes no tag, unless the `silent` ones are asked for.
    """
    prefix, label = split_tag(tag)
    if prefix == OUTSIDE:
        return (prefix, label) if tag == OUTSIDE else None
    known = scheme.prefixes if silent else scheme.written
    return (prefix, label) if prefix in known and tag == join_tag(prefix, label) else None


def write_tag(prefix: str, label: str, scheme: Scheme) -> str:
    """The tag as text has it: `O` for a prefix that is not written."""
    return OUTSIDE if prefix in scheme.silent else join_tag(prefix, label)


def tag_names(labels: tuple[str, ...], scheme: Scheme) -> tuple[str, ...]:
    """Every tag that the labels have in the scheme, silent ones too: `O`, then label by label."""
    return (OUTSIDE, *(join_tag(prefix, label) for label in labels for prefix in scheme.prefixes))

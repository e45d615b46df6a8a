"""How to read and to save annotated files: one field for each option, argument and config key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from inspect import Parameter
from typing import Any, Literal, NamedTuple, get_type_hints

from ...codes.policy import get_tag_policy
from ...codes.scheme import get_scheme
from ...errors import FileError, SettingError
from ...names import known_name

MAIN, COLUMNS, TEXTS, ADVANCED = "", "Columns", "Texts", "Advanced"
"""The panels of the help of commands; advanced fields are settings, `--set NAME=VALUE`."""

Documents = Literal["markers", "none", "tokens"]
Unit = Literal["sentence", "document"]
Misaligned = Literal["count", "raise", "expand", "contract", "split"]
Order = Literal["source", "outermost", "innermost", "label"]
OffsetUnit = Literal["auto", "characters", "tokens"]
TextUnit = Literal["auto", "whole", "lines", "rules"]
Rest = Literal["missing", "leave-out", "predicted", "outside"]
Unbalanced = Literal["raise", "text", "skip"]
Portion = Literal["all", "train", "dev"]


def option(
    default: Any, about: str, panel: str = MAIN, choices: Any = None, option: str = ""
) -> Any:
    """Return a field with what its option says in the help of commands, and its name there."""
    more = {"about": about, "panel": panel, "choices": choices, "option": option}
    return field(default=default, metadata=more)


Tokenize = Callable[[str], list[tuple[int, int]]]
"""Cuts a text into tokens: where each begins and ends."""


def option_fields(cls: type) -> tuple[Field[Any], ...]:
    """Return the fields of a dataclass that are options of commands."""
    return tuple(each for each in fields(cls) if each.metadata)


def _require_choices(options: Any) -> None:
    """Raise if an option that has choices has none of them."""
    for each in option_fields(type(options)):
        if each.metadata["choices"] is not None:
            name = f"value of {each.name}"
            known_name(name, getattr(options, each.name), each.metadata["choices"])


def config_parameters(cls: type) -> list[Parameter]:
    """Return the parameters of a function that takes the options of a dataclass from a config."""
    types = {tuple[str, ...]: Sequence[int | str]}  # a layer may be written as a number
    hints = get_type_hints(cls)
    return [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=types.get(hints[each.name], hints[each.name]),
        )
        for each in option_fields(cls)
    ]


class LayerName(NamedTuple):
    """A column of tags by its number, and the label of spans whose tags name none."""

    column: int
    label: str = ""

    @classmethod
    def of(cls, text: str | int) -> LayerName:
        """Return the layer that `2` or `2=PER` names."""
        number, _, label = str(text).partition("=")
        try:
            return cls(int(number), label)
        except ValueError:
            raise SettingError(
                f"A layer is a column, 2 for example, or a column and a label, 2=PER, not {text!r}."
            ) from None


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; each format looks at the fields that concern it."""

    format: str = option("auto", "What kind of file it is; auto goes by its name and content.")
    layers: tuple[str, ...] = option(
        (),
        "A column of tags, or N=LABEL where tags name no label; in JSON, the key of tags. Repeat "
        "it for each layer.",
        option="--layer",
    )
    spans_key: str = option(
        "", "A span group of .spacy files (default: entities, or the only group if there are none)."
    )
    delimiter: str = option(
        "auto",
        "Between columns: tab, space, whitespace (any run of both), comma, another string, or "
        "auto: a tab if the first token's line has one, else whitespace.",
        COLUMNS,
    )
    token: int = option(0, "Column of the token, from 0; negative: from the end.", COLUMNS)
    tag: int = option(-1, "Column of the tag, from 0; negative: from the end.", COLUMNS)
    comment: str = option("", "Lines that start with this are comments, '#' for example.", COLUMNS)
    encoding: str = option("utf8", "Encoding of text files.", COLUMNS)
    documents: Documents = option(
        "markers", "What lines that mark documents (-DOCSTART-) do.", COLUMNS, Documents
    )
    header: bool = option(
        False,
        "The first line names the columns: labels of layers whose tags name none. Without --layer, "
        "all but the token are layers.",
        COLUMNS,
    )
    suffix: bool = option(False, "Tags end in their prefix (PER-B) in place of B-PER.", ADVANCED)
    lang: str = option(
        "", "Cut texts into tokens as spaCy does for this language (default: words).", TEXTS
    )
    sentences: TextUnit = option(
        "auto",
        "What a sentence is; auto: the whole text, and in .spacy files what is marked as one.",
        TEXTS,
        TextUnit,
    )
    misaligned: Misaligned = option(
        "count", "What mentions become that begin or end within a token.", TEXTS, Misaligned
    )
    offsets: OffsetUnit = option(
        "auto",
        "What offsets in JSON count; auto: characters if there is a text.",
        TEXTS,
        OffsetUnit,
    )
    tag_names: tuple[str, ...] = option(
        (),
        "The tags that numbers in JSON stand for, in their order: repeat it, or leave blanks "
        "between them.",
        ADVANCED,
    )
    annotator: str = option(
        "",
        "Whose annotation to read where several have annotated a text, in Label Studio; or the "
        "version of a model.",
        ADVANCED,
    )
    ignore_tags: tuple[str, ...] = option(
        (),
        "A tag of inline-tagged texts that is no label; repeat it for each.",
        ADVANCED,
        option="--ignore-tag",
    )
    sentence_tag: str = option(
        "", "The tag that sentences of inline-tagged texts stand in.", ADVANCED
    )
    document_tag: str = option(
        "", "The tag that documents of inline-tagged texts stand in.", ADVANCED
    )
    label_attribute: str = option(
        "", "The attribute that names the label of a tag (default: the tag does).", ADVANCED
    )
    unbalanced: Unbalanced = option(
        "raise", "What tags without their other half become.", ADVANCED, Unbalanced
    )
    xml: bool = option(
        False, "Inline-tagged texts are XML even without <?xml: decode &amp;.", ADVANCED
    )
    rest: Rest = option(
        "missing",
        "What sentences of a session become that nobody has read (outside: they have no mentions)",
        ADVANCED,
        Rest,
    )
    tokenizer: Tokenize | None = field(default=None, compare=False)
    """Cuts texts into tokens, in place of what `lang` names; no option."""
    annotated: bool = field(default=True)
    """Whether annotation is read. Else texts and Docs come as if they had none; no option."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(map(str, self.layers)))
        object.__setattr__(self, "ignore_tags", tuple(self.ignore_tags))
        object.__setattr__(self, "tag_names", tuple(self.tag_names))
        _require_choices(self)
        if not self.delimiter:
            raise SettingError("An empty delimiter separates nothing: name one (--delimiter).")
        columns = [key for key, _ in self.layer_keys]
        if len(set(columns)) < len(columns):
            raise FileError(f"A column is one layer, but these are named: {columns}.")

    @property
    def named_layers(self) -> tuple[LayerName, ...]:
        """The layers, as numbers and labels."""
        return tuple(map(LayerName.of, self.layers))

    @property
    def layer_keys(self) -> tuple[tuple[str | int, str], ...]:
        """The layers as keys of JSON and labels; keys that are numbers are columns."""
        pairs = (layer.partition("=")[::2] for layer in self.layers)
        return tuple((_number(key), label) for key, label in pairs)


def _number(text: str) -> str | int:
    try:
        return int(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class SaveOptions:
    """How to write a file; each format looks at the fields that concern it."""

    to: str = option("auto", "What kind of file to write; auto goes by its name.")
    to_scheme: str = option(
        "", "Scheme of the tags that are written (default: that of the source)."
    )
    layers: int = option(
        0, "How many columns of tags to write (default: as many as it takes).", panel=ADVANCED
    )
    order: Order = option(
        "source", "Which column a span goes to, where spans overlap.", ADVANCED, Order
    )
    spans_key: str = option(
        "",
        "Write a span group of this name in place of entities.",
        option="--output-spans-key",
        panel=ADVANCED,
    )
    unit: Unit = option("sentence", "What one Doc holds.", MAIN, Unit)
    offsets: OffsetUnit = option(
        "auto",
        "What offsets in JSON count; auto: characters if the source has texts.",
        ADVANCED,
        OffsetUnit,
        option="--output-offsets",
    )
    model_version: str = option(
        "", "Write mentions as predictions of this version of a model, in Label Studio.", ADVANCED
    )
    lossy: bool = option(False, "Leave out what the format cannot hold, and say how much that is.")
    delimiter: str = option(
        "",
        "Between columns that are written (default: as read, or tab).",
        ADVANCED,
        option="--output-delimiter",
    )
    only_tags: bool = option(False, "Write only the token and its tags.", ADVANCED)
    append: bool = option(False, "Write tags as one more column.", COLUMNS)
    header: bool = option(
        False, "Write a first line that names the columns.", ADVANCED, option="--output-header"
    )
    document_markers: bool = option(
        False,
        "Begin each document with -DOCSTART- (default: if one has several sentences).",
        ADVANCED,
    )
    encoding: str = option("utf8", "Encoding of text files.", COLUMNS)

    def __post_init__(self) -> None:
        _require_choices(self)
        if self.delimiter in ("auto", "whitespace"):
            raise SettingError("Name one delimiter to write (--set output-delimiter).")


@dataclass(frozen=True)
class ExampleOptions:
    """What examples of spaCy are made of annotated files; the registered readers take these."""

    scheme: str | None = option(
        None, "Scheme of tags; null: it is found, where the file can be read in one way."
    )
    policy: str = option("raise", "What malformed tags become.")
    unit: Unit = option("sentence", "A sentence or a document: what one Doc holds.", choices=Unit)
    keep_sentences: bool = option(False, "Predicted Docs know their sentences, too.")
    part: Portion = option(
        "all",
        "all, train (without what is held out) or dev (what is held out): a share of the "
        "documents, or of the sentences where there are fewer than ten documents.",
        choices=Portion,
    )
    share: float = option(0.1, "How much is held out.")
    seed: int = option(0, "Which documents are held out.")
    limit: int = option(0, "At most so many Docs; 0: all.")
    shuffle: bool = option(False, "Another order in every epoch.")
    augmenter: Callable[..., Any] | None = option(None, "One of spaCy's augmenters.")
    tag_scheme: str | None = option(
        None, "Write tags in this scheme to token.tag_, for a tagger to learn."
    )

    def __post_init__(self) -> None:
        _require_choices(self)
        get_tag_policy(self.policy)
        for scheme in filter(None, (self.scheme, self.tag_scheme)):
            get_scheme(scheme)
        if not 0 < self.share < 1:
            raise SettingError(f"A share lies between 0 and 1, and {self.share} does not.")

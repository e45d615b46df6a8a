"""Every block of code in the README and the guides is run, and every name in their text exists.

Data that a page takes for granted are small here: `material` makes them.
"""

from __future__ import annotations

import ast
import gzip
import inspect
import io
import re
import shlex
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config, registry
from thinc.api import Config

import spacy_iobes
from spacy_iobes.chain import Chain, Limits
from spacy_iobes.cli import app
from spacy_iobes.codes.roundtrip import roundtrip
from spacy_iobes.corpus import token_tags
from spacy_iobes.pipeline import EntityRecognizer, render
from spacy_iobes.scoring import formatted
from spacy_iobes.strategies import study

from .commands import fine
from .pages import (
    BLOCKS,
    PACKAGE,
    PAGES,
    Block,
    blocks,
    examples,
    in_shell,
    run_commands,
    run_examples,
    snippets,
)
from .shared import CONFIGS, beside
from .small_sessions import answer_all, gold_of, sentences, small

PEERS = ("iobes", "seqeval", "seqscore", "nervaluate", "spacy")
LANGUAGES = ("pycon", "console", "sh", "ini", "python")
NOT_RUN = {
    "python3 -m venv": "makes an environment and installs into it; test_package.py does that",
    "pip install": "fetches packages",
    "spacy-iobes annotate": "serves a page until Ctrl-C; test_annotate_cli.py does that",
    "python -m benchmarks": "takes minutes, and corpora that are not ours to ship",
}
"""Beginnings of lines that are not run, and why; the names in them are looked up all the same."""
SHORTER = {
    "spacy train": " --training.max_steps 2 --training.eval_frequency 1",
    "spacy-iobes strategies": " --set workers=1",
}
"""What is added to lines, by their beginning, so that they end soon."""


def of(language: str) -> list[Block]:
    """The blocks in a language; test_migration.py has those that need another tool."""
    return [block for block in BLOCKS if block.language == language and not block.needs]


def test_every_block_is_run() -> None:
    for page in PAGES:
        assert PAGES[page].count("```") == 2 * sum(block.page == page for block in BLOCKS), page
    for block in BLOCKS:
        assert block.language in LANGUAGES, f"{block}: nothing runs a block of {block.language!r}"
        if block.needs:
            assert (block.page, block.needs in PEERS) == ("migration.md", True), str(block)
        shown = re.search(r"^(?:>>>|\$) ", block.text, re.MULTILINE)
        assert bool(shown) == (block.language in ("pycon", "console")), str(block)


@pytest.mark.parametrize("page", list(dict.fromkeys(block.page for block in of("pycon"))))
def test_python_sessions(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKAGE.parent)
    session = examples("\n".join(blocks("pycon", page)), page, {})
    assert len(session.examples) > 5
    run_examples(session)


@pytest.mark.parametrize("block", of("console"), ids=str)
def test_console_sessions(block: Block, tmp_path: Path) -> None:
    run_commands(block.text, tmp_path)


def announcement(number: int) -> str:
    """A document of the kind that strategies are compared on."""
    return (
        f"<paragraph><sentence><speaker>Dr. Ada {number}</speaker> will speak at"
        f" <stime>{number % 9 + 1}:30</stime> in <location>Room {number}</location>.</sentence>"
        "</paragraph>\n"
    )


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small data under the names that pages use."""
    folder = tmp_path_factory.mktemp("material")
    shutil.copytree(CONFIGS, folder / "configs")
    legal = folder / "train.bio"
    quiet = ("--scheme", "bio", "--policy", "begin", "--quiet")
    fine("repair", PACKAGE / "data" / "sample.bio", legal, *quiet)
    shutil.copy(legal, folder / "dev.bio")
    for name in ("eng.train", "eng.testa", "eng.testb"):
        fine("convert", legal, folder / name, "--scheme", "bio", "--to-scheme", "iob1")
    for name in ("train.spacy", "dev.spacy"):
        fine("convert", legal, folder / name, "--scheme", "bio")
    (folder / "results" / "florian").mkdir(parents=True)
    lines = (folder / "eng.testb").read_text(encoding="utf8").splitlines()
    tags = "".join(f"{line.split()[-1] if line else ''}\n" for line in lines)
    with gzip.open(folder / "results" / "florian" / "eng.testb.gz", "wt") as file:
        file.write(tags)
    for seed, name in enumerate(("annotated.bio", "pool.bio", "talks.bio")):
        fine("generate", folder / name, "--sentences", 300, "--seed", seed)
    fine("convert", folder / "pool.bio", folder / "pool.txt", "-t", "tokens")
    options = ("--scheme", "bio", "--max-steps", 4, "--no-tune")
    fine("train", legal, legal, "--output", folder / "model", *options)
    with tarfile.open(folder / "seminars.tar.gz", "w:gz") as archive:
        for number in range(12):
            data = announcement(number).encode("latin-1")
            member = tarfile.TarInfo(f"sa/talk-{number}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    session = small(folder / "ships", labels=("PER",))
    answer_all(session, gold_of(sentences(30), ("PER",)))
    session.close()
    return folder


@pytest.mark.parametrize("block", of("sh"), ids=str)
def test_shell_blocks(block: Block, material: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(material, folder)
    for line in block.text.splitlines():
        if not any(map(line.startswith, NOT_RUN)):
            more = "".join(added for start, added in SHORTER.items() if line.startswith(start))
            done = in_shell(line + more, folder)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_what_is_not_run_is_there() -> None:
    lines = [line for block in of("sh") for line in block.text.splitlines()]
    assert all(any(line.startswith(start) for line in lines) for start in (*NOT_RUN, *SHORTER))


def test_commands_run_what_is_installed_also_in_a_clone() -> None:
    """Python prefers the folder it starts in, where nothing may be compiled."""
    lines = [line[2:4] for _, line in command_lines() if line[:2] == ["python", "-m"] and line[2:]]
    assert {line[0] for line in lines} == {"benchmarks", "spacy"}
    assert {line[1] for line in lines if line[0] == "spacy"} == {"project"}


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_python_blocks(block: Block) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["Ada", "Lovelace"])
    doc.user_data["iobes_tags"] = ["B-PER", "O"]
    names = {"doc": doc, "docs": [doc]}
    exec(block.text, names)
    assert names.keys() > {"doc", "docs"}


# ---------------------------------------------------------------- configs

COLUMNS = "Ada\tB-PER\tO\tO\tO\nLovelace\tI-PER\tO\tO\tO\n"  # legal in bio, the last one in iobes


def part_of_config(text: str) -> Config:
    """Read some sections of a config, whose parents need not be there."""
    sections = re.findall(r"^\[(.+)\]$", text, re.MULTILINE)
    parents = {name[: dot.start()] for name in sections for dot in re.finditer(r"\.", name)}
    heads = "".join(f"[{name}]\n" for name in sorted(parents - {*sections}))
    return Config().from_str(heads + text, interpolate=False)


def within(config: Config, train: Path) -> Config:
    """Return the config of a pipeline with the sections of a page."""
    nlp = spacy.blank("en")
    for name in config.get("components", {}):
        nlp.add_pipe(name)
    whole = Config(nlp.config).merge(config)
    whole["paths"]["train"] = str(train)
    return whole


@pytest.mark.parametrize("block", of("ini"), ids=str)
def test_config_blocks(block: Block, tmp_path: Path) -> None:
    for package in re.findall(r'"(spacy-(?:curated-)?transformers)\.', block.text):
        pytest.importorskip(package.replace("-", "_"))
    config = part_of_config(block.text)
    (tmp_path / "train.tsv").write_text(COLUMNS, encoding="utf8")
    nlp = load_model_from_config(within(config, tmp_path / "train.tsv"), auto_fill=True)
    for name in config.get("corpora", {}):
        readers = registry.resolve({name: nlp.config.interpolate()["corpora"][name]})
        assert [len(example.reference) for example in readers[name](nlp)] == [2]
    if "@scorers" in block.text:
        gold = Example.from_dict(nlp.make_doc("Ada met"), {"entities": [(0, 3, "PER")]})
        gold.reference[0].tag_, gold.reference[1].tag_ = "S-PER", "O"
        nlp.initialize(lambda: [gold])
        weights = config.get("training", {}).get("score_weights", {"iobes_f": 1.0})
        assert {*weights} <= {*nlp.evaluate([gold])}


# ---------------------------------------------------------------- names within text

APP: Any = typer.main.get_command(app)
COMMANDS: Mapping[str, Any] = APP.commands
OPTIONS = {
    name: {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for name, command in COMMANDS.items()
}
STARTERS = (("spacy-iobes",), (".venv/bin/spacy-iobes",), ("spacy", "iobes"))
ELSEWHERE = {"--repair-method", "--vars.sentences", "--vars.seed"}  # of seqscore and of projects


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """Yield every command line of ours, in blocks and in text, with where it is."""
    for block in BLOCKS:
        if block.language in ("sh", "console"):
            for line in block.text.splitlines():
                if block.language == "sh" or line.startswith("$ "):
                    for part in re.split(r"&&|;|\|| [{}] ?", line.removeprefix("$ ")):
                        yield str(block), words(part)
    for page in PAGES:
        for snippet in snippets(page):
            yield page, words(snippet)


def words(line: str) -> list[str]:
    """The words of a command line; of one that is no command line, whatever words it has."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def named(line: list[str]) -> tuple[str, list[str]]:
    """The command that a line names, empty if it names none of ours, and the options after it."""
    for start in STARTERS:
        if tuple(line[: len(start)]) == start:
            assert len(line) == len(start) or line[len(start)] in (*COMMANDS, "…"), line
            line = line[len(start) :]
            break
    options = [word for word in line if re.match(r"--?[a-z]", word)]
    return (line[0] if line and line[0] in COMMANDS else ""), options


def settings() -> set[str]:
    """The settings of all configs that come with the package, as options of `train` name them."""
    found: set[str] = set()
    for path in CONFIGS.glob("*.cfg"):
        whole = Config().from_disk(path, interpolate=False)
        whole = load_model_from_config(whole, auto_fill=True, validate=False).config
        paths = [*whole.items()]
        while paths:
            name, value = paths.pop()
            found.add(f"--{name}")
            if isinstance(value, dict):
                paths += [(f"{name}.{key}", each) for key, each in value.items()]
        found |= {f"--columns.{name}" for name in Config().from_disk(path).get("columns", {})}
    return found


def test_commands_and_their_options_exist() -> None:
    known = settings() | ELSEWHERE | benchmark_options()
    every = known.union(*OPTIONS.values())
    seen, unknown = 0, []
    for where, line in command_lines():
        name, options = named(line)
        if name or (line and line[0].startswith("--")):
            seen += len(options)
            taken = OPTIONS[name] | known if name else every
            unknown += [(where, name, option) for option in options if option not in taken]
    assert unknown == []
    assert seen > 100


def benchmark_options() -> set[str]:
    """The options of `python -m benchmarks`, where that is at hand."""
    if not find_spec("benchmarks"):
        return set()
    from benchmarks.__main__ import parser

    return {option for action in parser()._actions for option in action.option_strings}


def test_benchmarks_take_the_options_that_pages_name() -> None:
    pytest.importorskip("benchmarks")
    from benchmarks import ner_options
    from benchmarks.__main__ import parser

    lines = [line for _, line in command_lines() if line[:3] == ["python", "-m", "benchmarks"]]
    assert len(lines) > 5
    for line in lines:
        if line[3:] != ["…"]:
            found = parser().parse_args(line[3:])
            assert not ner_options.problem(found.name, ner_options.given(found)), line


def test_extras_exist() -> None:
    setup = beside("setup.py").read_text(encoding="utf8")
    every = {
        each for text in PAGES.values() for each in re.findall(r'"(?:spacy-iobes|\.)\[(\w+)', text)
    }
    assert "annotate" in every
    assert all(f'"{extra}": ' in setup for extra in every)


OURS: dict[str, Callable[..., Any]] = {
    name: value for name in spacy_iobes.__all__ if callable(value := getattr(spacy_iobes, name))
}
OF_PAGES: dict[str, dict[str, Callable[..., Any]]] = {
    "README.md": {"load": spacy.load},
    "annotate.md": {},
    "formats.md": {},
    "chain.md": {name: getattr(Limits, name) for name in ("require", "outside", "cut", "blank")}
    | {"biased": Chain.biased},
    "migration.md": {"formatted": formatted, "as_dict": spacy_iobes.Report.as_dict},
    "ner.md": {
        name: getattr(EntityRecognizer, name)
        for name in ("nbest", "marginals", "expected_counts", "span_probability", "learn")
    }
    | {"load": spacy.load, "add_pipe": Language.add_pipe, "nlp": Language.__call__}
    | {"resume_training": Language.resume_training},
    "nested.md": {},
    "pipeline.md": {"token_tags": token_tags, "render": render},
    "scoring.md": {},
    "selection.md": {},
    "separators.md": {"roundtrip": roundtrip},
    "strategies.md": {"study": study},
}
"""What the text of a page calls beside the functions of `spacy_iobes` itself."""
METHODS = (Limits, Chain, EntityRecognizer, Language, spacy_iobes.Report)
OF_PEERS = {
    *("Doc", "from_dict", "Entities", "Evaluator", "accuracy_score", "biluo_to_iob"),
    *("bio_to_iobes", "classification_report", "decode_labels", "encode_mentions", "evaluate"),
    *("f1_score", "get_encoding", "get_entities", "iob_to_bilou", "iob_to_biluo", "is_valid"),
    *("iobes_to_bmewo", "len", "parse_spans", "parse_spans_bilou", "parse_spans_bmeow"),
    *("parse_spans_iob", "parse_spans_iobes", "parse_spans_with_errors", "precision_score"),
    *("recall_score", "repair_labels", "score_label_sequences", "tags_to_entities"),
    *("transitions_legality", "validate_labels", "validate_tags", "write_tags"),
}
"""Functions of other tools: test_migration.py calls them where the tools are installed."""
FILES = {"corpus.spacy"}  # a name like that of a module
KEYWORDS_OF_PEERS = {"mode", "output_dict", "aggregation_strategy", "ignore_labels"}


def calls(snippet: str) -> list[ast.Call]:
    """The calls in a piece of Python; none if it is something else."""
    try:
        tree = ast.parse(snippet.replace("…", "..."))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def refusal(function: Callable[..., Any], call: ast.Call) -> str:
    """Why a function cannot be called so; empty if it can."""
    own = any(vars(kind).get(function.__name__) is function for kind in kinds())
    keywords = {keyword.arg: None for keyword in call.keywords if keyword.arg}
    try:
        inspect.signature(function).bind_partial(*[None] * (own + len(call.args)), **keywords)
    except TypeError as error:
        return str(error)
    return ""


def kinds() -> list[type]:
    """The classes whose methods the pages call."""
    return [kind for each in METHODS for kind in each.__mro__]


@pytest.mark.parametrize("page", PAGES)
def test_calls_within_text(page: str) -> None:
    known = OURS | OF_PAGES[page]
    for snippet in snippets(page):
        for call in calls(snippet):
            name = ast.unparse(call.func).rpartition(".")[2]
            if name in known and name not in OF_PEERS:
                assert not refusal(known[name], call), f"{snippet}: {refusal(known[name], call)}"
            else:
                assert name in OF_PEERS, f"{snippet}: {name} is not known"


@pytest.mark.parametrize("page", PAGES)
def test_keywords_within_text(page: str) -> None:
    functions = [each for each in (OURS | OF_PAGES[page]).values() if not isinstance(each, type)]
    known = {name for each in functions for name in inspect.signature(each).parameters}
    for snippet in snippets(page):
        if re.match(r"[a-z_]+=\S", snippet):
            (call,) = calls(f"f({snippet})")
            named = {keyword.arg for keyword in call.keywords}
            assert named <= known | KEYWORDS_OF_PEERS, f"{snippet}: no function here takes that"


@pytest.mark.parametrize("page", PAGES)
def test_modules_within_text(page: str) -> None:
    packages = "|".join(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    pattern = re.compile(rf"(?:spacy_iobes\.)?(?:{packages})(?:\.[A-Za-z_]\w*)+")
    for snippet in filter(pattern.fullmatch, {*snippets(page)} - FILES):
        assert resolve_name(f"spacy_iobes.{snippet.removeprefix('spacy_iobes.')}")

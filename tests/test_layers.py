"""Imports only point down: which part of the package may import which (the table in DESIGN.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import spacy_iobes

from .shared import beside

PACKAGE = "spacy_iobes"
SOURCE = Path(spacy_iobes.__file__).parent

BASE = {"about", "span", "errors", "surface", "arrays", "names"}
CODES = BASE | {"codes", "kernels"}
CORPUS = CODES | {"corpus"}
LEARNERS = CODES | {"chain", "ml", "learners"}
SELECTION = CORPUS | LEARNERS | {"scoring", "selection"}
GENERATE = CORPUS | {"generate"}
STRATEGIES = CORPUS | LEARNERS | {"scoring", "strategies"}
PIPELINE = CORPUS | {"chain", "ml", "scoring", "pipeline"}
MAY_IMPORT = {  # every layer with itself and with what its foundations stand on
    "about": BASE,
    "span": BASE,
    "errors": BASE,
    "surface": BASE,
    "arrays": BASE,
    "names": BASE,
    "kernels": {"kernels", "arrays"},
    "codes": CODES,
    "chain": BASE | {"kernels", "chain"},
    "ml": CODES | {"chain", "ml"},
    "corpus": CORPUS,
    "scoring": CORPUS | {"scoring"},  # more than DESIGN has: files are scored part by part
    "selection": SELECTION,
    "learners": LEARNERS,
    "strategies": STRATEGIES,
    "pipeline": PIPELINE,
    "cli": PIPELINE | STRATEGIES | SELECTION | GENERATE | {"cli", "web"},
    "web": SELECTION | {"web"},
    "generate": GENERATE,
    "__init__": PIPELINE | STRATEGIES | SELECTION,
    "__main__": PIPELINE | STRATEGIES | SELECTION | GENERATE | {"cli"},
}
LIBRARIES = {  # what else the lower layers may import beyond the standard library
    "about": set[str](),
    "span": set[str](),
    "errors": set[str](),
    "surface": set[str](),
    "names": set[str](),
    "arrays": {"numpy"},
    "kernels": {"numpy"},
    "codes": {"numpy"},
    "chain": {"numpy"},
}
ONLY_IN_CLI = {"typer"}


def module_name(file: Path, source: Path) -> str:
    """The dotted name of a file; packages end in `__init__`."""
    return ".".join((PACKAGE, *file.relative_to(source).with_suffix("").parts))


def resolve(node: ast.Import | ast.ImportFrom, module: str) -> list[str]:
    """The full names of what one statement imports, `from a import b` being `a.b`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    parents = module.split(".")[: -node.level] if node.level else []
    start = ".".join([*parents, *([node.module] if node.module else [])])
    return [f"{start}.{alias.name}" for alias in node.names]


def for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(tree: ast.AST, module: str) -> Iterator[str]:
    """Everything a module imports, inside functions too, except for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from resolve(node, module)
        elif isinstance(node, ast.If) and for_types_only(node):
            yield from (name for other in node.orelse for name in imports(other, module))
        else:
            yield from imports(node, module)


def every_import(source: Path) -> Iterator[tuple[str, str, str]]:
    """(module, its layer, what it imports) for the whole package."""
    for file in sorted(source.rglob("*.py")):
        module = module_name(file, source)
        for name in imports(ast.parse(file.read_text(encoding="utf8")), module):
            yield module, module.split(".")[1], name


def forbidden(source: Path) -> list[str]:
    """Every import that points up or to a library that the layer does without."""
    found = []
    for module, layer, name in every_import(source):
        root, _, rest = name.partition(".")
        if root == PACKAGE:
            wrong = rest.split(".")[0] not in MAY_IMPORT[layer]
        else:
            libraries = LIBRARIES.get(layer, {root} - ONLY_IN_CLI)
            wrong = root not in sys.stdlib_module_names | libraries and layer != "cli"
        if wrong:
            found.append(f"{module} imports {name}")
    return found


def test_imports_only_point_down() -> None:
    assert forbidden(SOURCE) == []


def test_every_part_has_a_layer() -> None:
    parts = {layer for _, layer, _ in every_import(SOURCE)}
    assert {"codes", "kernels"} <= parts <= set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("file", "code", "wrong"),
    [
        ("codes/new.py", "from .. import kernels\nfrom ..span import Span\nimport numpy", ""),
        ("codes/new.py", "from ..corpus import conll", f"{PACKAGE}.corpus.conll"),
        ("codes/new.py", "from .. import corpus", f"{PACKAGE}.corpus"),
        ("codes/new.py", f"import {PACKAGE}.cli.app", f"{PACKAGE}.cli.app"),
        ("codes/new.py", "from .. import parse", f"{PACKAGE}.parse"),
        ("codes/new.py", "def f():\n    from ..ml import x", f"{PACKAGE}.ml.x"),
        ("codes/new.py", "import spacy.tokens", "spacy.tokens"),
        ("codes/new.py", "if TYPE_CHECKING:\n    import spacy", ""),
        ("codes/new.py", "if not TYPING:\n    import spacy", "spacy"),
        ("codes/__init__.py", "from .parse import parse\nfrom ..errors import TagError", ""),
        ("codes/deep/new.py", "from ...corpus import conll", f"{PACKAGE}.corpus.conll"),
        ("kernels/new.py", "from ..codes.tag import x", f"{PACKAGE}.codes.tag.x"),
        ("errors.py", "from .span import Span", ""),
        ("errors.py", "import numpy", "numpy"),
        ("corpus/new.py", "import spacy\nfrom ..codes import parse", ""),
        ("corpus/new.py", "from ..cli import app", f"{PACKAGE}.cli.app"),
        ("corpus/new.py", "import typer", "typer"),
        ("cli/new.py", "import typer\nfrom ..pipeline import x", ""),
        ("__init__.py", "from .codes.parse import parse", ""),
        ("__init__.py", "from .cli.app import main", f"{PACKAGE}.cli.app.main"),
    ],
)
def test_this_test_can_fail(file: str, code: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf8")
    expected = [f"{module_name(path, tmp_path)} imports {wrong}"] if wrong else []
    assert forbidden(tmp_path) == expected


def test_the_package_is_cheap_to_import(tmp_path: Path) -> None:
    code = f"import sys, {PACKAGE}; print(*sorted(sys.modules), sep='\\n')"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert f"{PACKAGE}.about" in loaded
    assert not loaded & {"numpy", "spacy", "thinc", "typer"}


HIDDEN = """
    codes.classes codes.roundtrip codes.scheme codes.states
    corpus.formats corpus.inline_files
    corpus.nested_corpus corpus.nested_reader corpus.training_data
    ml.explain pipeline.scorers pipeline.training_config
    scoring.page scoring.side_by_side
""".split()  # noqa: SIM905
"""Modules with a function that has the name of a module, which hides it in the package."""


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "docs"])
def test_users_import_from_packages(folder: str) -> None:
    """What tests, benchmarks and docs import stays where it is when modules move."""
    texts = {path: path.read_text(encoding="utf8") for path in beside(folder).glob("*.[mp][dy]")}
    pattern = re.compile(r"^(?:>>> )? *from spacy_iobes\.(\w+\.\w+)[\w.]* import ", re.MULTILINE)
    found = {
        (path.name, module) for path, text in texts.items() for module in pattern.findall(text)
    }
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.pyi")}
    deep = {(path, module) for path, module in found if module.split(".")[0] in packages}
    assert texts
    assert sorted((path, module) for path, module in deep if module not in HIDDEN) == []

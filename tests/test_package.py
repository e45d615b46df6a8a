"""The installed package: its commands, its data, its public names, and what importing it costs."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points, metadata, requires, version
from importlib.resources import files
from pathlib import Path

import pytest
import srsly

import spacy_iobes
from spacy_iobes import kernels

from .shared import beside, opened_for, patient, require_heeded

PUBLIC = """
    CodedTags Corpus Counts FORMATS POLICIES Repaired RepairedMany Report SCHEMES Scheme Sentences
    Signature Span SpanColumns TagScores Violation ViolationColumns __version__ add_format
    add_scheme check convert convert_many mask parse parse_many read repair repair_many save score
    transitions validate validate_many write write_many
""".split()  # noqa: SIM905
SOURCE = Path(spacy_iobes.__file__).parent


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | environment
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_public_names() -> None:
    assert sorted(spacy_iobes.__all__) == PUBLIC
    assert all(hasattr(spacy_iobes, name) for name in PUBLIC)


PACKAGES = ["", *sorted(path.parent.name for path in SOURCE.glob("*/__init__.pyi"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_loaded(package: str) -> None:
    name = f"spacy_iobes.{package}".rstrip(".")
    found = import_module(name)
    stub = ast.parse((SOURCE / package / "__init__.pyi").read_text(encoding="utf8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: f"{name}.{node.module}" for node in imports for alias in node.names}
    assert sorted(homes) == found.__all__
    for each, home in homes.items():
        assert getattr(found, each) is getattr(import_module(home), each)
    modules = {path.stem for path in (SOURCE / package).iterdir()}
    assert not modules & {*homes}  # a module would hide the name
    with pytest.raises(AttributeError, match=f"'{name}' has no attribute 'nothing'"):
        found.nothing  # noqa: B018


def test_a_plain_command_line_loads_neither_spacy_nor_pydantic() -> None:
    script = (
        "import sys; from spacy_iobes.cli import main; sys.argv[1:] = {line!r}.split()\n"
        "try: main()\n"
        "except SystemExit: print({{'spacy', 'pydantic'}} & set(sys.modules))"
    )
    sample = str(files("spacy_iobes") / "data" / "sample.bio")
    for line in (
        f"score {sample} {sample} -s bio -p begin --gold-policy begin --limit 0",
        "generate - --sentences 3 --violations 0.5",
    ):
        assert "set()" in run(sys.executable, "-c", script.format(line=line)).stdout


def test_version() -> None:
    assert version("spacy-iobes") == spacy_iobes.__version__


def test_the_types_ship() -> None:
    assert (files("spacy_iobes") / "py.typed").is_file()


def test_every_python_that_is_named_is_tested() -> None:
    workflow = srsly.read_yaml(beside(".github") / "workflows" / "tests.yml")
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    named = metadata("spacy-iobes").get_all("Classifier") or []
    versions = [name.rpartition(" ")[2] for name in named if ":: 3." in name]
    assert matrix["python"] == versions
    assert len(matrix["os"]) == 3


def test_entry_points() -> None:
    (command,) = entry_points(group="console_scripts", name="spacy-iobes")
    assert callable(command.load())
    (plugin,) = entry_points(group="spacy_cli", name="iobes")
    assert plugin.value == "spacy_iobes.cli.plugin:app"


@pytest.mark.parametrize("start", [["-m", "spacy", "iobes"], ["-m", "spacy_iobes"]])
def test_both_commands_run(start: list[str]) -> None:
    done = run(sys.executable, *start, "info", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["spacy-iobes"] == spacy_iobes.__version__
    builds = {"compiled": ("baseline", "x86-64-v3", "x86-64-v4"), "numpy": ("numpy",)}
    assert facts["chain build"] in builds[facts["chain kernels"]]
    assert run(sys.executable, *start, "validate", "nothing", "-s", "bio").returncode == 2
    assert run(sys.executable, *start, "--version").stdout == (
        f"spacy-iobes {spacy_iobes.__version__}\n"
    )


def test_spacy_lists_the_commands() -> None:
    done = run(sys.executable, "-m", "spacy", "--help")
    assert "iobes" in done.stdout


def test_kernels_can_be_switched_off() -> None:
    script = "from spacy_iobes import kernels; print(kernels.IN_USE)"
    done = run(sys.executable, "-c", script, SPACY_IOBES_KERNELS="numpy")
    assert done.stdout.strip() == "numpy"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the package as a clone has it: its kernels are not compiled."""
    source, compiled = Path(spacy_iobes.__file__).parent, shutil.ignore_patterns("*.so", "*.pyd")
    shutil.copytree(source, tmp_path / "spacy_iobes", ignore=compiled)
    return tmp_path


def said_in(folder: Path, *arguments: str, switch: str = "") -> tuple[str, str]:
    """Return what Python prints in a folder to standard output and to standard error."""
    env = os.environ | {"SPACY_IOBES_KERNELS": switch, "PYTHONSAFEPATH": ""}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_a_command_says_that_it_runs_on_the_twins(clone: Path) -> None:
    command = ["-m", "spacy_iobes", "info", "--json"]
    out, err = said_in(clone, *command)
    assert json.loads(out)["kernels"] == "numpy"
    assert err.count("\n") == 1
    assert err.startswith(f"spacy-iobes runs without compiled kernels, from {clone.resolve()}")
    assert "8 times as long" in err
    if kernels.IN_USE == "compiled":
        assert f"A compiled copy is in {Path(spacy_iobes.__file__).parent}: " in err
    assert said_in(clone, *command, switch="numpy")[1] == ""  # that is asking for them


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("import spacy_iobes; spacy_iobes.Span", 0),  # it needs no kernels
        ("from spacy_iobes import parse, score, write", 1),
        ("import spacy; spacy.blank('en'); from spacy_iobes import parse", 1),
        ("import spacy.cli", 0),
    ],
)
def test_python_is_warned_of_the_twins_once(clone: Path, script: str, count: int) -> None:
    assert said_in(clone, "-c", script)[1].count("without compiled kernels") == count


def test_workers_do_not_repeat_it(clone: Path) -> None:
    parsed = "__import__('spacy_iobes').parse(['B-X'], 'bio')"
    script = (
        "from multiprocessing import get_context\n"
        f"print({parsed})\n"
        f"with get_context('spawn').Pool(1) as pool: print(pool.apply(eval, [{parsed!r}]))"
    )
    out, err = said_in(clone, "-c", script)
    assert out.count("Span") == 2
    assert err.count("without compiled kernels") == 1


@pytest.mark.skipif(kernels.IN_USE != "compiled", reason="the kernels are not compiled here")
def test_compiled_kernels_are_nothing_to_speak_of(tmp_path: Path) -> None:
    assert said_in(tmp_path, "-m", "spacy_iobes", "info")[1] == ""
    assert said_in(tmp_path, "-W", "error", "-c", "from spacy_iobes import parse, score")[1] == ""


def test_the_sample_ships_with_known_violations() -> None:
    path = Path(str(files("spacy_iobes") / "data" / "sample.bio"))
    done = run(sys.executable, "-m", "spacy_iobes", "validate", str(path), "-s", "bio", "--json")
    assert done.returncode == 1
    (file,) = json.loads(done.stdout)["files"]
    lines = [violation["line"] for violation in file["violations"]]
    kinds = [violation["kind"] for violation in file["violations"]]
    assert (lines, kinds) == ([19, 30, 43, 64], ["start", "label", "label", "start"])


@pytest.mark.skipif(sys.platform == "win32", reason="the shell has no head")
def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "many"
    path.write_text("a I-X\n\n" * 50_000)
    command = f"{sys.executable} -m spacy_iobes validate {path} -s bio --limit 0 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_request_to_end_leaves_no_half_written_file(tmp_path: Path, name: str) -> None:
    require_heeded(name)
    source, target = tmp_path / "in", tmp_path / "out"
    os.mkfifo(source)
    command = patient("convert", source, target, "-s", "bio", "--to-scheme", "iobes")
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    with process, opened_for(process, source) as pipe:  # late enough: the command reads
        pipe.write(b"a O\n\n" * 500_000)
        pipe.flush()
        process.send_signal(getattr(signal, name))
    assert process.returncode == 128 + getattr(signal, name)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_every_requirement_has_a_lowest_version() -> None:
    """CI installs these versions: `.ci/environments` takes them from here."""
    needed = [line for line in requires("spacy-iobes") or [] if "extra ==" not in line]
    assert needed
    assert [line for line in needed if line.count(">=") != 1] == []


def test_wheels_are_built_for_every_python_that_is_named() -> None:
    built = re.findall(r'"cp3(\d+)-\*"', beside("pyproject.toml").read_text(encoding="utf8"))
    named = metadata("spacy-iobes").get_all("Classifier") or []
    assert [f"3.{minor}" for minor in built] == [
        n.rpartition(" ")[2] for n in named if ":: 3." in n
    ]

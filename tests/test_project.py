"""project.yml: workflows run, a second run skips what has not changed, files are declared."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import srsly

import spacy_iobes
from spacy_iobes import Signature
from spacy_iobes.kernels import IN_USE

from .shared import CONFIGS, SHARED, beside, needs_shared

PROJECT: dict[str, Any] = srsly.read_yaml(beside("project.yml"))
COMMANDS = {command["name"]: command for command in PROJECT["commands"]}
SMALL = {"sentences": 60, "held_out": 30, "splits": 2, "epochs": 1, "sparse": "LOC"}
FILE = re.compile(rf"(?<= )(?:configs|{'|'.join(PROJECT['directories'])})(?:/[\w.-]+)*(?![\w.-])")


def python(folder: Path, *arguments: str) -> str:
    """Return what this Python prints in a folder; nothing in there runs on twins unasked."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONSAFEPATH": ""}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "without compiled kernels" not in done.stderr or IN_USE != "compiled", done.stderr
    return done.stdout


def spacy_project(folder: Path, *arguments: str) -> str:
    """What a command of `spacy project` prints."""
    return python(folder, "-m", "spacy", "project", *arguments)


def run(folder: Path, workflow: str, **variables: float) -> list[str]:
    """Run a workflow; which of its commands were not skipped."""
    given = [str(part) for name, value in variables.items() for part in (f"--vars.{name}", value)]
    told = spacy_project(folder, "run", workflow, str(folder), *given)
    names: list[str] = PROJECT["workflows"][workflow]
    return [name for name in names if f"Skipping '{name}': nothing changed" not in told]


def made(folder: Path) -> None:
    """Put the project into a folder, its variables small, as a clone has it after `pip install .`.

    The package beside it is not compiled.
    """
    srsly.write_yaml(folder / "project.yml", PROJECT | {"vars": PROJECT["vars"] | SMALL})
    shutil.copytree(CONFIGS, folder / "configs")
    shutil.copy(beside("configs/run.py"), folder / "configs")
    source = Path(spacy_iobes.__file__).parent
    compiled = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(source, folder / "spacy_iobes", ignore=compiled)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the whole workflow has run."""
    folder = tmp_path_factory.mktemp("project")
    made(folder)
    assert run(folder, "all") == PROJECT["workflows"]["all"]
    return folder


def lines(name: str) -> Iterator[str]:
    """The script of a command."""
    yield from COMMANDS[name]["script"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_ours_or_spacys_and_declares_its_files(name: str) -> None:
    command = COMMANDS[name]
    start = re.compile(r"python configs/run.py (spacy_iobes|spacy) ")
    assert all(start.match(line) for line in lines(name))
    declared = {*command.get("deps", []), *command["outputs"]}
    written = {file for line in lines(name) for file in FILE.findall(start.sub(" ", line))}
    within = {str(Path(file).parent) for file in declared}  # a directory that a command fills
    assert written - declared <= within
    assert all(file in written or {*map(str, Path(file).parents)} & written for file in declared)


@pytest.mark.parametrize("workflow", PROJECT["workflows"])
def test_what_a_command_needs_was_made_before(workflow: str) -> None:
    known = {asset["dest"] for asset in PROJECT["assets"]}
    known |= {f"configs/{path.name}" for path in CONFIGS.iterdir()}
    for name in PROJECT["workflows"][workflow]:
        assert {*COMMANDS[name].get("deps", [])} <= known
        known |= {*COMMANDS[name]["outputs"]}


@pytest.mark.skipif(IN_USE != "compiled", reason="the kernels are not compiled here")
def test_the_project_runs_the_installed_package_not_the_one_beside_it(project: Path) -> None:
    starts = {line.partition(" spacy")[0] for name in COMMANDS for line in lines(name)}
    for start in starts:
        command = [*start.split()[1:], "spacy_iobes", "info", "--json"]
        assert json.loads(python(project, *command))["kernels"] == "compiled"


def test_every_output_is_written(project: Path) -> None:
    """One that never was is recorded as such, and then skipped for ever."""
    lock = srsly.read_yaml(project / "project.lock")
    assert [*lock] == PROJECT["workflows"]["all"]
    hashes = {out["path"]: out["md5"] for entry in lock.values() for out in entry["outs"]}
    assert len(hashes) > 20
    assert all(hashes.values())


def test_scores_carry_their_recipe(project: Path) -> None:
    for name, prefix in (("flat", "iobes"), ("nested", "iobes_nested")):
        figures = json.loads((project / "metrics" / f"{name}.json").read_text(encoding="utf8"))
        signature = Signature.parse(figures[f"{prefix}_signature"])
        assert (signature.policy, signature.gold_policy) == ("raise", "raise")
        assert 0 < figures[f"{prefix}_f"] <= 1
        text = (project / "metrics" / f"{name}.txt").read_text(encoding="utf8")
        assert Signature.parse(text.rpartition("signature ")[2].split()[0])
        assert "<html" in (project / "report" / f"{name}.html").read_text(encoding="utf8")


def test_a_second_run_skips_everything(project: Path) -> None:
    assert run(project, "all") == []
    assert run(project, "strategies") == []


def test_what_changes_reruns_what_depends_on_it(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    config = folder / "configs" / "ner_fast.cfg"
    text = config.read_text(encoding="utf8").replace("entity_bias = 0.0", "entity_bias = 2.5")
    config.write_text(text, encoding="utf8")
    expected = ["generate", "repair", "train-flat", "evaluate", "score", "report"]
    assert run(folder, "all", violations=0.4) == expected
    (folder / "metrics" / "policies.txt").unlink()
    assert run(folder, "all", violations=0.4) == ["repair"]


def test_no_two_corpora_have_the_same_seed() -> None:
    """Whatever the variable is, each file has a digit of its own behind it."""
    pattern = re.compile(r"generate corpus/(\w+)\.bio .* --seed \$\{vars\.seed\}(\d)")
    digits = dict(pattern.findall("\n".join(lines("generate"))))
    assert {*digits} == {"train", "dev", "test", "spoilt"}
    assert len({*digits.values()}) == 4


def test_the_readme_has_what_spacy_writes_of_the_project() -> None:
    """`python -m spacy project document . --no-emoji --output README.md` brings it up to date."""
    readme = beside("README.md").read_text(encoding="utf8")
    begin, end = (f"<!-- WEASEL: AUTO-GENERATED DOCS {word}" for word in ("START", "END"))
    if begin not in readme:
        pytest.skip("the README has no part that spaCy has written")
    folder = beside("project.yml").parent
    written = spacy_project(folder, "document", str(folder), "--no-emoji")
    parts = [text.split(begin)[1].split(end)[0].split() for text in (readme, written)]
    assert parts[0] == parts[1]


@needs_shared
def test_wnut17(tmp_path: Path) -> None:
    made(tmp_path)
    source, target = SHARED / "data" / "wnut17", tmp_path / "assets" / "wnut17"
    target.mkdir(parents=True)
    for asset in PROJECT["assets"]:
        data = (source / Path(asset["dest"]).name).read_bytes()
        assert hashlib.md5(data).hexdigest() == asset["checksum"]
        assert f"({len(data):,} bytes, CC BY 4.0)" in asset["description"]
        (tmp_path / asset["dest"]).write_bytes(data)
    told = spacy_project(tmp_path, "assets", str(tmp_path))
    assert told.count("Skipping download with matching checksum") == 3
    for file in target.iterdir():  # enough to see that it works
        sentences = file.read_text(encoding="utf8").split("\n\n")[:50]
        file.write_text("\n\n".join(sentences) + "\n\n", encoding="utf8")
    assert run(tmp_path, "wnut17") == PROJECT["workflows"]["wnut17"]
    figures = json.loads((tmp_path / "metrics" / "wnut17.json").read_text(encoding="utf8"))
    text = (tmp_path / "metrics" / "wnut17.txt").read_text(encoding="utf8")
    assert f"score {100 * figures['iobes_f']:.2f}, 95 % interval" in text
    assert run(tmp_path, "wnut17") == []

"""`python -m benchmarks all`: what is kept is not repeated, and what the page and pictures show."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .shared import ROOT, environment

if not find_spec("benchmarks"):
    pytest.skip("there is no benchmarks/ beside tests/", allow_module_level=True)

from benchmarks import results_chart as chart
from benchmarks import results_page
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.everything import RESUMED, Shelf, jobs
from benchmarks.machine import describe
from benchmarks.table import Cell, Table

JOBS = jobs(BENCHMARKS)
SYSTEMS = {
    "spaCy ner": (80.8, 33_000.0, 487.0),
    "crfsuite": (83.1, 61_000.0, 43.0),
    "ours": (87.1, 950_000.0, 16.0),
}
SHARES = {0.01: (41.7, 44.5, 47.6), 1.0: (80.8, 83.1, 87.1)}


def results(
    *tables: Table, quick: bool = False, name: str = "ner", machine: dict[str, str] | None = None
) -> str:
    """The results of a benchmark, as it writes them."""
    found = {name: [table.as_json() for table in tables]}
    about = {**describe(), **(machine or {})}
    return json.dumps({"machine": about, "quick": quick, "benchmarks": found})


def recognisers() -> list[Table]:
    """Tables like those of `ner`."""
    rows: list[dict[str, Cell]] = [
        {"system": name, "test F1": f1, "cached words/s": speed, "training s": seconds}
        for name, (f1, speed, seconds) in SYSTEMS.items()
    ]
    shares: list[dict[str, Cell]] = [
        {"share": share, **{f"{name} F1": f1 for name, f1 in zip(SYSTEMS, values)}}
        for share, values in SHARES.items()
    ]
    return [
        Table("how it was measured", [], ["In some way."]),
        Table("CoNLL-2003: 9 words to train on", rows, [], {"test F1": ".2f"}),
        Table("learning curves, CoNLL-2003", shares),
    ]


def run(
    folder: Path, *arguments: str, only: str = "separators"
) -> subprocess.CompletedProcess[str]:
    """Run a benchmark, the smallest unless named, on the data in a folder, if there is any."""
    line = [sys.executable, "-m", "benchmarks", "all", "--quick", "--only", only]
    places = ["--keep", str(folder / "kept"), "--output", str(folder)]
    env = environment(SPACY_IOBES_SHARED=str(folder))
    return subprocess.run(
        [*line, *places, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )


def test_a_quick_run_is_kept_shown_and_not_repeated(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "separators: python -m benchmarks separators --quick" in done.stderr
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf8")
    assert "`python -m benchmarks separators --quick`, 2" in page
    assert results_page.QUICK in page
    assert "## tags\n\nNot run: `python -m benchmarks tags`" in page
    again = run(tmp_path)
    assert (again.returncode, again.stderr) == (0, "separators: kept\n")
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf8") == page
    assert "separators: python -m" in run(tmp_path, "--fresh").stderr


def test_where_the_data_are_missing_nothing_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        done = run(tmp_path, only="policies")
        assert "policies: python -m benchmarks policies --quick" in done.stderr
        page = (tmp_path / "RESULTS.md").read_text(encoding="utf8")
        assert re.search(r"\[policies\].* not run \|$", page, re.MULTILINE)
        assert "Nothing to score" in page


def test_the_directory_of_the_page_is_made(tmp_path: Path) -> None:
    done = run(tmp_path, "--output", str(tmp_path / "page"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page" / "RESULTS.md").is_file()


def test_a_benchmark_that_fails_is_named_and_its_results_stay(tmp_path: Path) -> None:
    broken = tmp_path / "data" / "wnut17" / "emerging.test.annotated"
    broken.parent.mkdir(parents=True)
    broken.write_text("word Z-person\n\n", encoding="utf8")
    kept = tmp_path / "kept" / "docs.json"
    kept.parent.mkdir()
    kept.write_text(results(name="docs", quick=True), encoding="utf8")
    done = run(tmp_path, "--fresh", only="docs")
    assert done.returncode == 1
    assert done.stderr.endswith("docs failed\n")
    assert kept.read_text(encoding="utf8").startswith("{")
    assert "](#docs)" in (tmp_path / "RESULTS.md").read_text(encoding="utf8")


def test_every_benchmark_is_a_job() -> None:
    assert {*BENCHMARKS} - {"all"} == {*JOBS} - {"ner-cnn"}
    assert JOBS["ner-cnn"].command(quick=True) == "python -m benchmarks ner --cnn --quick"
    assert {*RESUMED} <= {*JOBS}


@pytest.mark.parametrize(
    ("since", "changed", "good"),
    [
        ("", {}, True),
        ("2026-02-01", {"date": "2026-02-01 00:10 UTC"}, True),
        ("2026-02-01", {"date": "2026-01-31 23:50 UTC"}, False),
        ("", {"spacy-iobes": "0.0.1"}, False),
    ],
)
def test_what_is_good_enough(
    tmp_path: Path, since: str, changed: dict[str, str], good: bool
) -> None:
    some = Table("some", [{"figure": 1.0}])
    text = results(some, name="tags", machine=changed)
    (tmp_path / "tags.json").write_text(text, encoding="utf8")
    assert Shelf(tmp_path, since=since).has(JOBS["tags"]) == good
    assert not Shelf(tmp_path, quick=True, since=since).has(JOBS["tags"])
    assert not Shelf(tmp_path).has(JOBS["score"])


def test_long_benchmarks_keep_their_measurements_beside_the_results(tmp_path: Path) -> None:
    line = Shelf(tmp_path, quick=True).line(JOBS["nested"])
    assert line[line.index("--keep") + 1] == str(tmp_path / "nested-quick.jsonl")
    assert "--keep" not in Shelf(tmp_path).line(JOBS["tags"])
    names = ("ner.jsonl", "ner-quick.jsonl", "nested.jsonl", "ner.json", "ner-cnn.json")
    for name in names:
        (tmp_path / name).touch()
    Shelf(tmp_path).forget(JOBS["ner"])
    assert {path.name for path in tmp_path.iterdir()} == {*names} - {"ner.jsonl"}


def test_the_page(tmp_path: Path) -> None:
    (tmp_path / "ner.json").write_text(results(*recognisers()), encoding="utf8")
    odd = Table("odd", [{"a|b": "x_y", "n": 1234.5}, {"a|b": "`", "n": None}])
    (tmp_path / "tags.json").write_text(results(odd, name="tags"), encoding="utf8")
    written = results_page.write(Shelf(tmp_path), [*JOBS.values()], tmp_path)
    assert [path.name for path in written] == ["speed.svg", "curve.svg", "RESULTS.md"]
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf8")
    assert "| a\\|b | n |\n| --- | ---: |\n| x\\_y | 1,234 |\n| \\` | - |" in page
    assert "| ours | 87.10 | 950,000 | 16 |" in page
    assert page.count("Not run: ") == len(JOBS) - 2
    assert all(f"]({name})" in page for name in ("speed.svg", "curve.svg"))
    assert all(f"| [{name}](#{name}) |" in page and f"\n## {name}\n" in page for name in JOBS)


def places(svg: str, kind: str) -> list[tuple[float, float]]:
    """Where the circles of a class are."""
    circles = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}circle")
    return [
        (float(c.attrib["cx"]), float(c.attrib["cy"])) for c in circles if c.get("class") == kind
    ]


def test_the_page_has_what_was_measured_and_no_targets(tmp_path: Path) -> None:
    some = Table("figures", [{"figure": 12.5}])
    judged = Table("targets", [{"target": "some", "wanted": ">= 13", "verdict": "not met"}])
    (tmp_path / "docs.json").write_text(results(some, judged, name="docs"), encoding="utf8")
    text = results_page.page(Shelf(tmp_path), [JOBS["docs"], JOBS["tags"]], [])
    assert re.search(r"\[docs\].* UTC \|$", text, re.MULTILINE)
    assert re.search(r"\[tags\].* not run \|$", text, re.MULTILINE)
    assert "12.5" in text
    assert not re.search("target|wanted|not met", text, re.IGNORECASE)


def test_the_pictures(tmp_path: Path) -> None:
    (tmp_path / "ner.json").write_text(results(*recognisers()), encoding="utf8")
    drawn = dict(results_page.pictures(Shelf(tmp_path), [*JOBS.values()]))
    ((spacy_x, spacy_y),) = places(drawn["speed.svg"], "peer")
    ((other_x, other_y),) = places(drawn["speed.svg"], "other")
    ((our_x, our_y),) = places(drawn["speed.svg"], "ours")
    assert spacy_x < other_x < our_x
    assert spacy_y > other_y > our_y
    assert (spacy_y - other_y) / (spacy_y - our_y) == pytest.approx(2.3 / 6.3, abs=0.01)
    assert "F1 87.1, 950,000 words/s, trained in 16 s" in drawn["speed.svg"]
    assert len(places(drawn["curve.svg"], "ours")) == 3  # two points, and the legend
    assert re.search(r"prefers-color-scheme: dark", drawn["speed.svg"])


def test_no_line_is_drawn_over_what_was_not_measured() -> None:
    lines = {
        "spaCy ner": [(0.01, 41.7), (1.0, 80.8)],
        "ours": [(0.01, 47.6), (0.1, 74.9), (1.0, 87.1)],
    }
    svg = chart.curve_chart(lines)
    drawn = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}line")
    assert sum("line" in element.attrib["class"].split() for element in drawn) == 2
    assert svg.count("<circle") == 5 + len(lines)  # and those of the legend


def test_nothing_is_drawn_without_recognisers(tmp_path: Path) -> None:
    assert dict(results_page.pictures(Shelf(tmp_path), [*JOBS.values()])) == {}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "tag"], "--only: 'tag' is none of tags"),
        (["--since", "yesterday"], "--since: 'yesterday' is no day"),
        (["--json", "x.json"], "--json: all writes a file for each benchmark"),
        (["--seeds", "2"], "--seeds: this is an option of ner, not of all"),
        (["--output", "nowhere/at/all"], "--output: there is no directory"),
    ],
)
def test_options_that_cannot_be(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["all", *arguments])
    assert stopped.value.code == 2
    assert complaint in capsys.readouterr().err

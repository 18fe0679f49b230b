"""The generated parts of the documentation agree with the code, and the drawn layers with the tested ones."""

import importlib.util
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gtp_engine
from gtp_engine.base.settings import meanings
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.tree import TreeLayout, new_tree

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def load(path: Path) -> ModuleType:
    """Returns a script of the checkout as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return load(DOCS / "generate_reference.py")


def test_every_page_is_up_to_date() -> None:
    # A process of its own: other tests add GTP commands and options.
    command = [sys.executable, str(DOCS / "generate_reference.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")  # else run: python docs/generate_reference.py


def test_every_generated_part_is_used(generator: ModuleType) -> None:
    parts = [part for page in DOCS.glob("*.md") for part in re.findall(r"<!-- generated: (\w+) -->", page.read_text())]
    assert sorted(parts) == sorted(generator.GENERATORS)


def test_every_entry_has_a_meaning(generator: ModuleType) -> None:
    tables = "\n".join(make() for make in generator.GENERATORS.values())
    assert "`c_puct`" in tables and "`kata-analyze`" in tables and "`--board-size SIZE`" in tables
    rows = [line for line in tables.splitlines() if line.startswith(("| `", "- `"))]
    assert len(rows) > 190
    assert [row for row in rows if row.rstrip(" |:").endswith("`")] == []


def test_pdoc_shows_the_public_names_alone(tmp_path: Path) -> None:
    """By the command in CONTRIBUTING.md."""
    pytest.importorskip("pdoc")
    arguments = re.search(r"`\.venv/bin/pdoc (.*?)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert arguments is not None
    command = [sys.executable, "-m", "pdoc", "-o", str(tmp_path), *shlex.split(arguments[1])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert {page.name for page in tmp_path.glob("**/*.html")} == {"index.html", "gtp_engine.html"}
    sections = re.split(r'<section id="([\w.]+)">', (tmp_path / "gtp_engine.html").read_text())
    assert set(sections[1::2]) == set(gtp_engine.__all__)
    callables = {name for name in gtp_engine.__all__ if callable(getattr(gtp_engine, name))}
    texts = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert {name for name in callables if 'class="docstring"' not in texts[name]} == set()


def public_methods(kind: type[Any]) -> list[Any]:
    """Returns the methods with docstrings that a class has from this package."""
    names = [name for base in kind.__mro__ if base.__module__.startswith("gtp_engine") for name in vars(base)]
    members = [getattr(kind, name) for name in names if not name.startswith("_")]
    return [member for member in members if (inspect.isfunction(member) or inspect.ismethod(member)) and member.__doc__]


@pytest.mark.parametrize("name", sorted(gtp_engine.__all__))
def test_docstrings_describe_the_arguments_that_there_are(name: str) -> None:
    """Of a class, of its methods and of a function; an argument may be left out where its name says enough."""
    value = getattr(gtp_engine, name)
    if not callable(value):
        return
    for function in [value, *(public_methods(value) if isinstance(value, type) else [])]:
        documented = function.__init__ if isinstance(function, type) else function
        _, _, text = inspect.cleandoc(documented.__doc__ or "").partition("Args:\n")
        names = re.findall(r"^    \*{0,2}(\w+(?:, \w+)*): ", text.partition("\n\n")[0], re.MULTILINE)
        described = {each for group in names for each in group.split(", ")}
        assert described <= set(inspect.signature(function).parameters), function


def test_every_environment_variable_is_documented() -> None:
    text = (DOCS / "reference.md").read_text()
    sources = [path.read_text() for path in (ROOT / "gtp_engine").rglob("*.py")]
    patterns = (
        r"\b(GTP_ENGINE_[A-Z]+)\b",
        r"environ(?:\.get|\.setdefault)?[(\[]\s*\"([A-Z_]+)\"",
        r"\"([A-Z_]+)\" (?:not )?in os\.environ",
    )
    used = {name for source in sources for pattern in patterns for name in re.findall(pattern, source)}
    assert {"GTP_ENGINE_CACHE", "OMP_WAIT_POLICY", "LOCALAPPDATA"} <= used
    assert {name for name in used if name not in text} == set()


def test_layers_are_those_that_are_tested() -> None:
    floors = load(ROOT / "tests" / "test_packaging.py").FLOORS
    drawn = dict(re.findall(r'^ +layer(\d+)\["([^"]+)"\]$', (DOCS / "architecture.md").read_text(), re.MULTILINE))
    assert [set(drawn[str(number)].replace("/", ".").split(" · ")) for number in range(len(drawn))] == floors


@pytest.mark.skipif(os.name == "nt", reason="git writes other line ends")
def test_no_trailing_blanks() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        assert not re.search(r"[ \t]+$", page.read_text(), re.MULTILINE), page.name


def test_the_memory_of_a_visit_is_as_stated(generator: ModuleType) -> None:
    def kilobytes(size: int, layout: TreeLayout) -> float:
        nodes = 2**12 + 1  # the table of value biases, whose length is a power of two, is largest here
        arrays = new_tree(nodes, size * size, layout)[:-1]
        return sum(array.nbytes for array in arrays) / nodes / 1000

    plain, network, rave = TreeLayout(), TreeLayout(ladders=True, biases=True), TreeLayout(rave=True)
    usual, raving = (
        [f"{kilobytes(size, layout._replace(ownership=True)):.2g} kB" for size in (9, 19)] for layout in (network, rave)
    )
    meaning = meanings(SearchParameters)["tree_megabytes"]
    assert f"With ownership a visit takes up to {usual[0]} on 9x9 and {usual[1]} on 19x19, with RAVE " in meaning
    assert meaning.endswith(f"with RAVE {raving[0]} and {raving[1]}.")
    row = f"{kilobytes(19, plain):.1f} kB; with rollouts, which store RAVE's statistics, {kilobytes(19, rave):.1f} kB |"
    assert f"| memory for each visit on 19x19 | {row}" in (DOCS / "results.md").read_text()

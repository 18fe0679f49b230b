"""The documentation is true: its examples run, its commands, options and files exist, its links lead somewhere."""

import ast
import doctest
import os
import re
import shlex
import sys
import unicodedata
from pathlib import Path

import click
import pytest

from gtp_engine.clients.cli import main
from gtp_engine.go.rules import RULESETS

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHERS = [
    ROOT / "CHANGELOG.md",
    ROOT / "benchmarks" / "README.md",
    ROOT / "benchmarks" / "ranks.md",
    ROOT / "benchmarks" / "review.md",
    ROOT / "sgf" / "README.md",
    *sorted((ROOT / "weights").glob("*.md")),
]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES + OTHERS}
GENERATED = re.compile(r"<!-- generated: \w+ -->.*?<!-- end -->", re.DOTALL)

every_page = pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))


def handwritten(page: Path) -> str:
    """Returns a page without its generated parts, which come from the code itself."""
    return GENERATED.sub("", TEXTS[page])


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, and the program `gtp_engine` on the PATH, installed or not."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "gtp_engine"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m gtp_engine "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell script on the PATH")
@pytest.mark.usefixtures("installed")
def test_examples_run() -> None:
    examples = 0
    for page in TEXTS:
        failures, tests = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
        assert failures == 0
        examples += tests
    assert examples > 10


def command_lines(text: str) -> list[str]:
    """Returns the lines that call the program, from blocks of shell commands and from inline code."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
    found = [re.search(r"(?:^|[/\s])(gtp_engine( [a-z]+\b.*)?)$", line.split("  #")[0].strip()) for line in lines]
    return [match[1] for match in found if match and match[2]]


@every_page
def test_commands_and_options_exist(page: Path) -> None:
    for line in command_lines(handwritten(page)):
        _, name, *arguments = shlex.split(line)
        command = main.get_command(click.Context(main), name)
        assert command is not None, line
        accepted = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word for word in arguments if word.startswith("--")} <= accepted, line


@every_page
def test_inline_code_stays_on_one_line(page: Path) -> None:
    """Otherwise no test would see a command in it."""
    prose = re.sub(r"^ *```.*?^ *```", "", handwritten(page), flags=re.DOTALL | re.MULTILINE)
    assert [line for line in prose.splitlines() if line.count("`") % 2] == []


def test_enough_commands_are_found() -> None:
    assert len(command_lines(TEXTS[README])) > 15
    assert sum(len(command_lines(handwritten(page))) for page in PAGES) > 50


@every_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXTS[page]):
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), target
        assert file.is_relative_to(ROOT), target
        if heading:
            assert heading in anchors(file.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE), re.M)
    return {
        "".join(c for c in heading.lower() if c in "-_ " or unicodedata.category(c)[0] in "LN").replace(" ", "-")
        for heading in headings
    }


@every_page
def test_files_exist(page: Path) -> None:
    package = ROOT / "gtp_engine"
    folders = (page.parent, ROOT, package, *(path for path in package.rglob("*") if path.is_dir()))
    for name in re.findall(r"`([\w/.]+(?:\.py|/))`", handwritten(page)):
        assert any((folder / name).exists() for folder in folders), name


def test_the_places_of_the_architecture_page_exist() -> None:
    """Each row of "Where to find things" names a file, and what is defined in it."""
    section = TEXTS[ROOT / "docs" / "architecture.md"].split("## Where to find things")[1].split("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| `([\w/]+\.py)` \| (.+) \|$", section, re.MULTILINE)
    assert len(rows) > 15
    for file, names in rows:
        defined = names_defined_in(ROOT / "gtp_engine" / file)
        assert set(re.findall(r"`(\w+)`", names)) <= defined, file


def names_defined_in(file: Path) -> set[str]:
    """Returns the functions, methods, classes and constants of a module."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    definitions = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return definitions | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@every_page
def test_lines_fit(page: Path) -> None:
    lines = handwritten(page).splitlines()
    assert [line for line in lines if len(line) > 140 and not line.startswith("|")] == []


def test_readme_is_short() -> None:
    assert len(TEXTS[README].splitlines()) <= 120


def rows_of(heading: str) -> list[list[str]]:
    """Returns the cells of all tables in one section of results.md."""
    section = TEXTS[ROOT / "docs" / "results.md"].split(f"## {heading}\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    text = " ".join(TEXTS[README].split("## How strong, how fast\n")[1].split("\n## ")[0].split())
    scores, network, default = {}, "", ""
    for who, visits, score in rows_of("Strength of the bundled networks")[2:]:
        if not who.startswith("the same"):
            network = who.split()[0]
            default = network if who.endswith("the default") else default
        board = re.search(r"\d+x\d+(?!-)", who.removeprefix(network))
        assert board is not None, who
        scores[network, board[0], visits] = score
    told = re.findall(r"(\d+x\d+), (\d+) visits a move(?:, with the far weaker ([\w-]+))?: ([^.]*?\))", text)
    assert len(told) >= 2
    for board, visits, name, score in told:
        assert scores[name or default, board, visits] == score

    speeds = {row[0]: row[1:] for row in rows_of("Speed next to KataGo")}
    ours, katago = re.search(r"make (\d+) visits a second; KataGo .*? makes (\d+)\.", text).groups()
    assert speeds["g170 b15c192, 19x19"] == [katago, ours]
    with_vnni, with_amx = re.search(r"runs ([\d.]+) times as fast .*?, ([\d.]+) times with AMX", text).groups()
    ratios = {row[0]: row for row in rows_of("Precisions")}  # of two rows of a name the last
    assert f"{float(ratios['19x19, batches of 8'][-1]):.1f}" == with_vnni
    assert f"{float(ratios['b10c384h6, 19x19'][4]):.1f}" == with_amx


@pytest.mark.parametrize("name", ["reference.md", "guis.md"])
def test_every_ruleset_is_named(name: str) -> None:
    assert {rules for rules in RULESETS if f"`{rules}`" not in TEXTS[ROOT / "docs" / name]} == set()


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([\w./]+\.md)\)", TEXTS[index])}
    assert set(PAGES) - {index} <= linked


def test_every_picture_is_shown_and_small() -> None:
    shown = "\n".join(TEXTS.values())
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture.name in shown, picture
        assert picture.stat().st_size <= 150_000, picture

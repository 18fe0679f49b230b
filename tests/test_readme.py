"""The README tells what is true: its examples run, its commands and options exist, its files are there."""

import doctest
import os
import re
import shlex
import sys
from pathlib import Path

import click
import pytest

from gtp_engine.cli import main
from gtp_engine.game.rules import RULESETS

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


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
    failures, tests = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert tests > 10
    assert failures == 0


def command_lines() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()] + re.findall(r"`([^`\n]+)`", TEXT)
    found = [re.search(r"(?:^|[/\s])(gtp_engine( [a-z]+\b.*)?)$", line.split("  #")[0].strip()) for line in lines]
    return [match[1] for match in found if match and match[2]]


def test_commands_and_options_exist() -> None:
    lines = command_lines()
    assert len(lines) > 15
    for line in lines:
        _, name, *arguments = shlex.split(line)
        command = main.get_command(click.Context(main), name)
        assert command is not None, line
        accepted = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word for word in arguments if word.startswith("--")} <= accepted, line


def test_files_exist() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT):
        assert (ROOT / target).is_file(), target
    for name in re.findall(r"`([\w/.]+(?:\.py|/))`", TEXT):
        assert any(
            (folder / name).exists() for folder in (ROOT, ROOT / "gtp_engine", *(ROOT / "gtp_engine").iterdir())
        ), name


def test_every_ruleset_is_named() -> None:
    assert {name for name in RULESETS if f"`{name}`" not in TEXT} == set()


def test_lines_fit() -> None:
    assert [line for line in TEXT.splitlines() if len(line) > 140 and not line.startswith("|")] == []

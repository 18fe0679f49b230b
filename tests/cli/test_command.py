"""What every command has: options under headings, defaults, -v and -q."""

import logging
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gtp_engine.base.fields import Range, Text
from gtp_engine.base.log import NOTICE
from gtp_engine.base.settings import setting
from gtp_engine.clients.cli import COMMANDS, main
from gtp_engine.clients.cli.command import COMMON, Command, command
from gtp_engine.clients.cli.defaults import COMMON_SETTINGS
from gtp_engine.clients.cli.options import FILE, variable

logger = logging.getLogger("gtp_engine.test")


def all_commands() -> dict[str, Command]:
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in COMMANDS}  # type: ignore[attr-defined]
    assert all(isinstance(command, Command) for command in commands.values())
    return commands


def test_options_are_under_their_headings_the_common_ones_first() -> None:
    @dataclass(frozen=True)
    class Example:
        """An example.

        Attributes:
            plain: Plain.
            name: Name.
            file: File.
            hidden: Hidden.
            size: Size.
            model: Model.
        """

        plain: str | None = setting(None, accepts=Text())
        name: str = setting("x", heading="Output")
        file: Path | None = setting(None, accepts=FILE, shown="none")
        hidden: str | None = setting(None, accepts=Text(), hidden=True)
        size: int | None = setting(None, accepts=Range(1, 9, whole=True), common=True, heading="Machine")
        model: str | None = setting(None, accepts=Text(), flags=["-model", "--model"])

    @command(common=("size", "name"), groups={"example": Example})
    def example(example: Example) -> None:
        """An example."""

    context = click.Context(example, show_default=True, help_option_names=["-h", "--help"])
    sections = example.sections(context)
    assert list(sections) == [COMMON, "Output", "Machine", "Other options"]
    assert sections[COMMON] == [
        ("--size N", "Size.  [1 to 9; env: GTP_ENGINE_SIZE]"),
        ("--name TEXT", "Name.  [default: x]"),
    ]
    assert sections["Output"] == [("--file FILE", "File.  [default: none]")]
    assert sections["Machine"] == [("--model TEXT", "Model.")]
    assert [names for names, _ in sections["Other options"]] == [
        "--plain TEXT",
        "-v, --verbose",
        "-q, --quiet",
        "-h, --help",
    ]


def test_no_option_of_the_program_is_lost_in_the_sections() -> None:
    for name, found in all_commands().items():
        context = click.Context(found)
        shown = [names for records in found.sections(context).values() for names, _ in records]
        visible = [param for param in found.get_params(context) if isinstance(param, click.Option) and not param.hidden]
        assert len(shown) == len(visible) and all(shown), name


def test_the_common_settings_are_those_with_a_variable() -> None:
    variables = {
        param.envvar: param.opts[0]
        for found in all_commands().values()
        for param in found.params
        if isinstance(param, click.Option) and param.envvar and not param.hidden
    }
    assert variables == {variable(name): f"--{name}" for name in COMMON_SETTINGS}


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [([], ["notice", "warning", "error"]), (["-v"], ["info", "notice", "warning", "error"]), (["-q"], ["error"])],
)
def test_verbose_and_quiet(arguments: list[str], seen: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    @command()
    def example() -> None:
        for level, text in (
            (logging.INFO, "info"),
            (NOTICE, "notice"),
            (logging.WARNING, "warning"),
            (logging.ERROR, "error"),
        ):
            logger.log(level, text)

    result = CliRunner().invoke(example, arguments)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [f"gtp_engine: {text}" for text in seen]

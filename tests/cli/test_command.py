"""What every command has: options under headings, defaults, -v and -q; and the options that several share."""

import dataclasses
import logging
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from gtp_engine.base.fields import Range, Text
from gtp_engine.base.log import NOTICE
from gtp_engine.base.settings import setting
from gtp_engine.clients.cli import COMMANDS, main
from gtp_engine.clients.cli.command import COMMON, Command, command
from gtp_engine.clients.cli.common_options import GameOptions, search_options
from gtp_engine.clients.cli.defaults import COMMON_SETTINGS
from gtp_engine.clients.cli.options import FILE, variable
from gtp_engine.engine.ranks import Rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.rules import RULESETS

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
        context = click.Context(found, **main.context_settings)  # click keeps the help option for other tests
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


TINY = str(Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz")


def parse(*arguments: str) -> tuple[GameOptions, EngineSettings]:
    seen: list[Any] = []

    @command(groups={"game": GameOptions, "search": search_options(["rank"])})
    def parser(game: GameOptions, search: EngineSettings) -> None:
        seen.extend((game, search))

    result = CliRunner().invoke(parser, arguments)
    if result.exit_code:
        raise ValueError(result.output or str(result.exception))
    return seen[0], seen[1]


def test_defaults() -> None:
    game, search = parse()
    assert game == GameOptions((19, 19), None, RULESETS["chinese"])
    assert search == EngineSettings()


def test_board_size_and_komi() -> None:
    game, _ = parse("--board-size", "2X25", "--komi=-3.5")
    assert (game.width, game.height, game.komi) == (2, 25, -3.5)


def test_rules_by_name_and_by_parts() -> None:
    assert parse("--rules", "Japanese")[0].rules == RULESETS["japanese"]
    parts = dataclasses.replace(RULESETS["tromp-taylor"], suicide=False)
    assert parse("--rules", '{"suicide":false}')[0].rules == parts


def test_settings_file_sets_defaults_of_options_and_parameters(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('visits = 100\nboard_size = "9x7"\nrank = "3d"\n[search]\nc_puct = 1.5\nreuse_tree = false\n')
    game, search = parse("--visits", "50", "--set", "c_puct=2", "--settings", str(path))
    assert (game.width, game.height) == (9, 7)
    assert search.visits == 50
    assert search.rank == Rank(3)
    parameters = search.search_parameters("none")
    assert parameters.c_puct == 2
    assert parameters.reuse_tree is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("visits = ", "settings.toml"),
        ("visit = 1", "unknown setting 'visit'"),
        ("search = 1", "'search' is not a table"),
        ("visits = -1", "settings.toml: visits: invalid number '-1'"),
        ("visits = 2.5", "settings.toml: visits: invalid number '2.5': expected a whole number of 1 or more"),
        ('visits = "many"', "settings.toml: visits: invalid number 'many'"),
        ("seconds = true", "settings.toml: seconds: expected one number or text, got True"),
        ("komi = [7]", r"settings.toml: komi: expected one number or text, got \[7\]"),
        ("[visits]", "settings.toml: visits: expected one number or text, got {}"),
        ("rules = 3", "settings.toml: rules: unknown rules: '3'"),
        ("[search]\nc_puct = [1]", "settings.toml: invalid c_puct"),
        ("[search]\nc_putc = 1", "settings.toml: unknown parameter 'c_putc'"),
    ],
)
def test_bad_settings_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        parse("--settings", str(path))


def test_engine_settings_use_every_option() -> None:
    _, settings = parse("--visits", "10", "--seconds", "2.5", "--rank", "4k", "--threads", "1", "--seed", "7")
    assert settings == EngineSettings(visits=10, seconds=2.5, rank=Rank(-3), threads=1, seed=7)


def test_the_profile_is_a_parameter_of_the_search() -> None:
    _, settings = parse("--network", TINY, "--profile", " rank_5k ", "--strict")
    assert (settings.search_parameters(TINY).profile, settings.strict) == ("rank_5k", True)
    _, search = parse("--network", TINY, "--profile", "rank_5k", "--set", "humanSLProfile=proyear_1985")
    assert search.search_parameters(TINY).profile == "proyear_1985"


def test_profiles_are_checked_at_once() -> None:
    with pytest.raises(ValueError, match="unknown profile 'rank_5': expected rank_20k to rank_9d"):
        parse("--profile", "rank_5")
    with pytest.raises(ValueError, match="the profile rank_5k needs a human-trained --network"):
        parse("--profile", "rank_5k")


def test_a_network_is_found_without_torch() -> None:
    code = (
        "import sys\n"
        "from gtp_engine.clients.cli.common_options import network_file\n"
        "print(network_file('tests/data/networks/tiny.bin.gz'), network_file('none'), network_file('auto'))\n"
        "print([module for module in ('torch', 'numba') if module in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout.split("\n")[:2] == [f"{Path('tests/data/networks/tiny.bin.gz')} none auto", "[]"], done.stderr

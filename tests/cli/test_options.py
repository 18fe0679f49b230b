"""The options that several commands share."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gtp_engine.clients.cli.command import command
from gtp_engine.clients.cli.common_options import GameOptions, search_options
from gtp_engine.engine.ranks import Rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.rules import RULESETS

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


@pytest.mark.parametrize(("text", "size"), [("9", (9, 9)), ("13x9", (13, 9)), ("2X25", (2, 25)), ("5:7", (5, 7))])
def test_board_size(text: str, size: tuple[int, int]) -> None:
    game, _ = parse("--board-size", text)
    assert (game.width, game.height) == size


@pytest.mark.parametrize("text", ["1", "26", "9x1", "9x", "x9", "9x9x9", "-9", "", "9.5"])
def test_bad_board_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"board size|out of range"):
        parse(f"--board-size={text}")


@pytest.mark.parametrize(("text", "komi"), [("7", 7.0), ("6.5", 6.5), ("-3.5", -3.5), ("0", 0.0)])
def test_komi(text: str, komi: float) -> None:
    assert parse(f"--komi={text}")[0].komi == komi


@pytest.mark.parametrize("text", ["1e308", "1001", "-1000.5", "nan", "six"])
def test_no_komi_beyond_all_boards(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number from -1000 to 1000"):
        parse(f"--komi={text}")


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
    assert (settings.visits, settings.seconds, settings.rank) == (10, 2.5, Rank(-3))
    assert (settings.threads, settings.seed, settings.network) == (1, 7, "auto")


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

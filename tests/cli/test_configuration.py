"""The user's configuration file, environment variables and the command line, in their order."""

import errno
import logging
import os
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner, Result

from gtp_engine.base.folders import configuration_file
from gtp_engine.base.languages.texts import LANGUAGES
from gtp_engine.clients.cli import COMMANDS, main
from gtp_engine.clients.cli.analysis import AnalysisOptions
from gtp_engine.clients.cli.command import command
from gtp_engine.clients.cli.common_options import GameOptions, search_options
from gtp_engine.clients.cli.config import TEMPLATE
from gtp_engine.clients.cli.defaults import settings_of, use_configuration
from gtp_engine.clients.cli.first_game import PlayersOptions, saved_game
from gtp_engine.engine.ranks import Rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.nets.library import bundled_folder, list_networks, network_name
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.run_settings import RunSettings
from gtp_engine.training.settings_toml import to_toml


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "folder" / "config.toml"
    path.parent.mkdir()
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(path))
    return path


def parse(*arguments: str) -> tuple[GameOptions, EngineSettings]:
    seen: list[Any] = []

    groups = {"game": GameOptions, "search": search_options(["rank"], seconds="5")}

    @command(name="gtp", groups=groups, context_settings={"default_map": {"board_size": "9"}})
    def parser(game: GameOptions, search: EngineSettings) -> None:
        seen.extend((game, search))

    result = CliRunner().invoke(parser, arguments)
    assert not result.exit_code, result.output or result.exception
    return seen[0], seen[1]


def parse_analysis(*arguments: str) -> tuple[EngineSettings, AnalysisOptions]:
    seen: list[Any] = []

    @command(name="analysis", groups={"search": search_options(), "katago": AnalysisOptions})
    def parser(search: EngineSettings, katago: AnalysisOptions) -> None:
        seen.extend((search, katago))

    result = CliRunner().invoke(parser, arguments)
    assert not result.exit_code, result.output or result.exception
    return seen[0], seen[1]


def command_named(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)  # type: ignore[attr-defined]
    assert isinstance(found, click.Command)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="gtp_engine")


def test_the_command_line_overrides_variables_and_they_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("threads = 2\nvisits = 20\nseconds = 2\n[gtp]\nvisits = 30\nseconds = 3\n[play]\nseconds = 7\n")

    def limits(*arguments: str) -> tuple[int | None, int | None, float | None]:
        _, search = parse(*arguments)
        return search.threads, search.visits, search.seconds

    assert limits() == (2, 30, 3.0)
    monkeypatch.setenv("GTP_ENGINE_THREADS", "1")
    monkeypatch.setenv("GTP_ENGINE_SECONDS", "4")
    monkeypatch.setenv("GTP_ENGINE_VISITS", "40")
    assert limits() == limits("--threads", "1") == (1, 40, 4.0)


def test_a_limit_replaces_both_of_a_place_that_counts_less(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def limits(*arguments: str) -> tuple[int | None, float | None]:
        _, search = parse(*arguments)
        return search.visits, search.seconds

    file.write_text("seconds = 2\n")
    assert limits() == (None, 2.0)
    file.write_text("seconds = 2\n[gtp]\nvisits = 30\n")
    assert limits() == (30, None)
    monkeypatch.setenv("GTP_ENGINE_SECONDS", "4")
    assert limits() == (None, 4.0)
    assert limits("--visits", "50") == (50, None)
    assert limits("--visits", "50", "--seconds", "1") == (50, 1.0)


def test_a_settings_file_overrides_the_configuration(file: Path, tmp_path: Path) -> None:
    file.write_text(
        'rank = "3k"\n[gtp]\nboard_size = 13\n[search]\nc_puct = 1.5\nc_uct = 0.5\n[gtp.search]\nc_uct = 0.6\n'
    )
    settings = tmp_path / "settings.toml"
    settings.write_text('rank = "4k"\n[search]\nc_puct = 1.7\n')
    game, search = parse("--settings", str(settings))
    assert (game.width, search.rank) == (13, Rank(-3))
    parameters = search.search_parameters("none")
    assert (parameters.c_puct, parameters.c_uct) == (1.7, 0.6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("visits = ", "Invalid value (at "),
        ("vists = 1", "unknown setting 'vists': did you mean 'visits'?"),
        ("komi = 1", "unknown setting 'komi': expected network, rank, visits, "),
        ("visits = -1", "visits: invalid number '-1': expected a whole number of 1 or more"),
        ("[paly]", "unknown setting 'paly': did you mean 'play'?"),
        ("gtp = 1", "'gtp' is not a table; write [gtp]"),
        ("[rank]\nthreads = 2", "'rank' is a setting, not a table; write rank = VALUE at the top"),
        ("[network]", "'network' is a setting, not a table; write network = VALUE at the top; the command `network`"),
        ("[visits]\nplay = 1", "'visits' is a setting, not a table; write visits = VALUE at the top\n"),
        ("search = 1", "'search' is not a table; write [search]"),
        ("[search]\nc_putc = 1", "unknown parameter 'c_putc': did you mean 'c_puct'"),
        ("[gtp]\nponder = 3", "[gtp] ponder: expected true or false, got 3"),
        ("[gtp]\npondre = true", "[gtp] unknown setting 'pondre': did you mean 'ponder'?"),
        ("[gtp.search]\nc_puct = 'x'", "[gtp] invalid c_puct 'x': expected a number"),
        ("threads = " + 5000 * "9", "a number has too many digits"),
        ("threads = " + 3000 * "[", "brackets are nested more than 100 deep"),
    ],
)
def test_what_is_wrong_is_one_line_with_file_and_key(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    done = run("gtp")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {file}: {message}") and done.stderr.count("\n") == 1
    assert run("gtp", "--help").exit_code == 0


def test_a_folder_with_a_nul_is_refused(file: Path) -> None:
    file.write_text('[play]\nsgf_dir = "a\\u0000b"\n')
    assert run("play").stderr == f"Error: {file}: [play] sgf_dir: expected text without NUL characters, got 'a\\x00b'\n"


def test_help_is_shown_although_the_file_cannot_be_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.touch()
    monkeypatch.setattr("gtp_engine.clients.cli.defaults.read_text", Mock(side_effect=PermissionError("no access")))
    assert run("gtp", "--help").exit_code == 0
    assert run("gtp").stderr == "Error: no access\n"


def test_a_wrong_variable_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("")
    monkeypatch.setenv("GTP_ENGINE_THREADS", "many")
    done = run("gtp")
    assert done.exit_code == 2
    assert (
        "Invalid value for GTP_ENGINE_THREADS: invalid number 'many': expected a whole number from 1 to 256"
        in done.stderr
    )


def test_help_shows_the_defaults_that_hold(file: Path) -> None:
    file.write_text('threads = 3\n[play]\nboard_size = "13x9"\n')
    page = run("play", "--help").stdout
    assert "[default: 13x9]" in page and re.search(r"\[1 to 256; default: 3;", page)


def test_the_settings_of_a_command_are_not_those_of_another(file: Path) -> None:
    file.write_text("[match]\ngames = 3\n")
    assert "[default: 3]" in run("match", "--help").stdout
    assert run("selfplay", "--help").stdout.count("[default: 100]") == 1


def test_the_template_is_accepted_as_it_is_and_without_its_marks(file: Path) -> None:
    for text in (TEMPLATE, re.sub(r"(?m)^#(?! )", "", TEMPLATE)):
        file.write_text(text)
        for name in COMMANDS:
            use_configuration(click.Context(command_named(name)))
    assert f"page of a review: {', '.join(LANGUAGES)}.\n" in TEMPLATE


def test_defaults_are_for_new_runs_only(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('[train]\npreset = "mini"\nfrom = "any"\n[learn]\nfrom = "any"\nlabels = "mine"\n')
    seen: list[tuple[Any, ...]] = []
    for name in ("train", "learn"):
        monkeypatch.setattr(f"gtp_engine.clients.cli.{name}.in_process_group", lambda work, _: seen.append(work.args))
    old = RunFolder(tmp_path / "old")
    old.create(RunSettings())
    for arguments in (["new"], ["old"], ["old", "--preset", "mini"], ["old", "--from", "other"]):
        assert run("train", str(tmp_path / arguments[0]), *arguments[1:]).exit_code == 0
    (_, new, *_), (_, resumed, *_), (_, typed, *_), _ = seen
    assert new is not None and new == typed and resumed is None
    assert [start for _, _, start, *_ in seen] == ["any", None, None, "other"]
    seen.clear()
    for arguments in (["new"], ["old"], ["old", "--from", "other"]):
        assert run("learn", "--out", str(tmp_path / arguments[0]), *arguments[1:]).exit_code == 0
    assert [(bool(made.records.labels), start) for made, _, _, start, *_ in seen] == [
        (True, "any"),
        (False, None),
        (False, "other"),
    ]


def test_an_option_switches_off_a_default_that_it_excludes(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('[train]\npreset = "mini"\nverbose = true\n[learn]\nconfig = "b2c16"\nlabels = "mine"\n')
    settings = tmp_path / "settings.toml"
    settings.write_text(to_toml(RunSettings()))
    seen: list[tuple[Any, ...]] = []

    def keep(work: Any, _: Any) -> None:
        seen.append((work.args, logging.getLogger("gtp_engine").level))

    for name in ("train", "learn"):
        monkeypatch.setattr(f"gtp_engine.clients.cli.{name}.in_process_group", keep)
    train = ("train", str(tmp_path / "new"))
    assert run(*train).exit_code == run(*train, "-q", "--settings", str(settings)).exit_code == 0
    (_, of_default), (arguments, of_option) = seen
    assert arguments[1] == RunSettings()
    assert (of_default, of_option) == (logging.INFO, logging.ERROR)
    wrong = run(*train, "--preset", "demo", "--settings", str(settings))
    assert (wrong.exit_code, "choose --preset or --settings, not both" in wrong.stderr) == (2, True)

    seen.clear()
    (tmp_path / "games").mkdir()
    learn = ("learn", str(tmp_path / "games"))
    assert run(*learn).exit_code == run(*learn, "--from", "any").exit_code == 0
    (alone, _), (started, _) = seen
    assert (alone[0].begin.network, alone[0].records.labels) == ("b2c16", "")
    assert started[0].begin.network == RunSettings().records.network and started[3] == "any"


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("gtp", "ponder"),
        ("gtp", "resign"),
        ("gtp", "strict"),
        ("play", "comments"),
        ("selfplay", "comments"),
        ("review", "all"),
        ("review", "force"),
    ],
)
def test_the_command_line_switches_off_a_flag(file: Path, name: str, setting: str) -> None:
    file.write_text(f"[{name}]\n{setting} = true\n")
    found = command_named(name)
    parameter = settings_of(found)[setting].name
    games = [str(file)] if name == "review" else []

    def value(*words: str) -> object:
        return found.make_context(name, [*words, *games]).params[parameter]

    option = setting.replace("_", "-")
    assert (value(), value(f"--no-{option}"), value(f"--{option}")) == (True, False, True)
    assert f"[default: {option}]" in " ".join(run(name, "--help").stdout.split())


def test_the_command_line_switches_off_the_handicap(file: Path) -> None:
    file.write_text("[play]\nhandicap = 4\n")
    found = command_named("play")

    def stones(*words: str) -> object:
        return found.make_context("play", list(words)).params["handicap"]

    assert (stones(), stones("--handicap", "0"), stones("--handicap", "2")) == (4, 0, 2)
    assert "invalid number of stones: 1 (on 9x9: 2 to 9)" in run("play", "--handicap", "1").stderr
    assert "invalid handicap '10': expected a whole number from 0 to 9" in run("play", "--handicap", "10").stderr


def test_values_may_be_dates_and_lists(file: Path) -> None:
    file.write_text("[learn]\nsince = 2015-03-31\n[match]\nsprt = [0, 10]\ntime = [0, 2, 1]\n")
    assert "[default: 2015-03-31]" in " ".join(run("learn", "--help").stdout.split())
    page = " ".join(run("match", "--help").stdout.split())
    assert "[default: 0, 10]" in page and "[default: 0, 2, 1]" in page
    file.write_text("[match]\nsprt = 10\n")
    assert run("match").stderr == f"Error: {file}: [match] sprt: Takes 2 values but 1 was given.\n"


def test_names_of_files_may_begin_with_the_home_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(file.parent))
    (file.parent / "mine.bin.gz").touch()
    file.write_text('network = "~/mine.bin.gz"\n')
    assert parse()[1].network == str(file.parent / "mine.bin.gz")


def test_names_of_files_start_from_the_folder_of_the_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GUI starts the engine in a folder of its own."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (file.parent / "nets").mkdir()
    for known in ("mine.bin.gz", "nets/mine.bin.gz", "../other.bin.gz"):
        (file.parent / known).touch()
    for name, found in {
        "nets/mine.bin.gz": file.parent / "nets" / "mine.bin.gz",
        "mine.bin.gz": file.parent / "mine.bin.gz",
        "b6c64-19x19": bundled_folder() / "b6c64-19x19.bin.gz",
        "none": "none",
        str(tmp_path / "other.bin.gz"): tmp_path / "other.bin.gz",
    }.items():
        file.write_text(f'network = "{name}"\n')
        assert parse()[1].network == str(found)
        file.write_text(f'[gtp]\nnetwork = "{name}"\n')
        assert parse()[1].network == str(found)
    settings = tmp_path / "settings.toml"
    settings.write_text('network = "folder/nets/mine.bin.gz"\n')
    assert parse("--settings", "../settings.toml")[1].network == str(
        elsewhere / ".." / "folder" / "nets" / "mine.bin.gz"
    )


def test_a_typed_network_counts_more_than_a_configured_model(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path))
    for name in ("common", "configured", "typed", "variable"):
        (tmp_path / f"{name}.bin.gz").touch()

    def network(*arguments: str) -> str:
        search, katago = parse_analysis(*arguments)
        return network_name(Path(katago.for_queries(search)[0].network))

    settings = tmp_path / "settings.toml"
    settings.write_text('network = "uniform"\n')
    file.write_text('network = "common"\n[analysis]\nmodel = "configured"\n')
    assert network() == "configured"
    assert network("--network", "none") == "none"
    assert network("-model", "typed") == network("-model", "typed", "--settings", str(settings)) == "typed"
    assert network("--settings", str(settings)) == "uniform"
    monkeypatch.setenv("GTP_ENGINE_NETWORK", "variable")
    assert network() == network("--settings", str(settings)) == "variable"
    assert network("-model", "typed") == "typed"


def test_files_of_katagos_options_start_from_the_folder_of_the_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file.write_text('[analysis]\nmodel = "nets/m.bin.gz"\nhuman_model = "nets/h.bin.gz"\n')
    nets, (_, katago) = file.parent / "nets", parse_analysis()
    assert (katago.model, katago.human_model) == (str(nets / "m.bin.gz"), str(nets / "h.bin.gz"))
    assert parse_analysis("-model", "m.bin.gz")[1].model == "m.bin.gz"


def test_a_default_to_resume_gives_way_to_the_command_line(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    file.write_text('[play]\nresume = true\nsgf_dir = "../games"\n')
    seen: list[Path | None] = []

    @command(name="play", groups={"players": PlayersOptions})
    def parser(players: PlayersOptions) -> None:
        saved = saved_game(players)
        seen.append(saved and saved.path.resolve())

    def path_with(*arguments: str) -> Path | None:
        result = CliRunner().invoke(parser, arguments)
        assert not result.exit_code, result.output
        return seen[-1]

    assert path_with() is None  # there is none to continue
    mine, other = folder / "mine.sgf", tmp_path / "other.sgf"
    mine.write_text("(;GM[1]SZ[9]AP[gtp_engine:0]PB[human]PW[gtp_engine];B[cc])")
    other.write_text("(;GM[1]SZ[9];B[cc])")
    assert path_with() == path_with("--resume") == mine
    assert path_with(str(other)) == other
    assert path_with("--new") is path_with("--handicap", "2") is path_with("--board-size", "13") is None
    assert CliRunner().invoke(parser, ["--new", str(other)]).exit_code == 2


def test_config_creates_the_file_once(file: Path) -> None:
    file.parent.rmdir()
    assert run("config").stdout == f"{file} does not exist; create it with `gtp_engine config --create`\n"
    assert run("config", "--create").stdout == f"wrote {file}\n"
    assert file.read_text() == run("config", "--template").stdout == TEMPLATE
    assert run("config").stdout == f"# {file}\n{TEMPLATE}"
    again = run("config", "--create")
    assert (again.exit_code, again.stderr) == (1, f"Error: {file} already exists: edit it\n")


def test_a_byte_order_mark_is_no_part_of_the_file(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfthreads = 2\r\n")
    assert parse()[1].threads == 2
    assert run("config").stdout == f"# {file}\nthreads = 2\n"


def test_config_shows_a_file_that_is_wrong(file: Path) -> None:
    file.write_bytes(b"vists = 1\xff\x1b")
    assert run("gtp").stderr == f"Error: {file}: not a text file in UTF-8\n"
    shown = run("config")
    assert shown.stdout == f"# {file}\nvists = 1\ufffd?"
    assert (shown.exit_code, shown.stderr) == (1, f"Error: {file}: not a text file in UTF-8\n")
    file.write_text("= =\n")
    assert "Error: " in run("config").stderr and "line 1, column 1" in run("config").stderr
    file.write_text("x = 1\n")
    assert "unknown setting 'x'" in run("config").stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_configuration_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_CONFIG", "/dev/zero")
    assert run("gtp").stderr == "Error: GTP_ENGINE_CONFIG names /dev/zero, which is a pipe or a device; name a file\n"
    shown = run("config")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr == "Error: /dev/zero: larger than 1 MB, the most that is read of such a file\n"


def test_the_file_is_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GTP_ENGINE_CONFIG")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert configuration_file() == tmp_path / "gtp_engine" / "config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert configuration_file() == tmp_path / ".config" / "gtp_engine" / "config.toml"


def test_a_home_that_cannot_be_read_has_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the home were another user's; root may read everything."""
    home = tmp_path / "home"
    home.mkdir()
    stat, access = os.stat, os.access

    def stat_outside(path: Any, **options: Any) -> os.stat_result:
        if home in Path(os.fsdecode(path) if isinstance(path, bytes) else str(path)).parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", stat_outside)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != home and access(path, mode))
    monkeypatch.setattr("gtp_engine.clients.cli.doctor.checks_of", lambda *_: [])
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "GTP_ENGINE_CONFIG", "GTP_ENGINE_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    assert parse()[0].width == 9
    assert [path.parent for path in list_networks()] == [bundled_folder()] * len(list_networks())
    file = home / ".config" / "gtp_engine" / "config.toml"
    for words in (["config"], ["config", "--create"]):
        refused = run(*words)
        message = f"Error: {file} cannot be read: set HOME, or GTP_ENGINE_CONFIG to the name of a file\n"
        assert (refused.exit_code, refused.stderr) == (1, message)
    report = run("doctor", "--network", "none").stdout
    assert f"  config       {file}  (none, or not readable: see `gtp_engine config`)\n" in report
    assert f"  networks     {home / '.local/share/gtp_engine/networks'}  (not writable): put" in report
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(file))
    assert run("gtp").stderr == f"Error: {file}: Permission denied\n"


def test_a_variable_that_names_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(tmp_path))
    message = f"Error: GTP_ENGINE_CONFIG names {tmp_path}, which is a folder; name a file\n"
    assert (run("gtp").exit_code, run("gtp").stderr) == (1, message)


def test_a_variable_that_names_no_file(file: Path) -> None:
    done = run("play")
    message = f"GTP_ENGINE_CONFIG names {file}, which does not exist; create it with `gtp_engine config --create`"
    assert (done.exit_code, done.stderr) == (1, f"Error: {message}\n")
    assert run("play", "--help").exit_code == 0
    assert run("config").exit_code == 0
    assert run("config", "--create").exit_code == 0

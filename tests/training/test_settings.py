"""The settings of runs: presets, reading and writing TOML, and the errors for wrong ones."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.base.errors import UserError
from gtp_engine.base.settings import comment_of, settings_of
from gtp_engine.clients.cli import main
from gtp_engine.search.evaluate import devices
from gtp_engine.training import new_run
from gtp_engine.training.new_run import given_settings, settings_from_options
from gtp_engine.training.presets import NAMES, preset_file
from gtp_engine.training.run_settings import RunSettings, SearchSettings, WindowSettings, sections_of
from gtp_engine.training.settings_toml import parse_settings, read_settings, to_toml

MINI = read_settings(preset_file("mini"))


@pytest.mark.parametrize("name", NAMES)
def test_presets_survive_a_round_trip_with_every_default(name: str) -> None:
    settings = read_settings(preset_file(name))
    text = to_toml(settings)
    assert parse_settings(text) == settings
    for section in sections_of("train"):
        assert all(f"\n{setting} = " in text for setting in settings_of(getattr(RunSettings(), section)))


@pytest.mark.parametrize("command", ["train", "learn"])
def test_each_comment_stands_alone_with_what_is_accepted(command: str) -> None:
    settings = MINI if command == "train" else settings_from_options({"games": ["a.zip"]})
    text = to_toml(settings)
    for section in sections_of(command):
        values = getattr(settings, section)
        for name in settings_of(values, command):
            comment = comment_of(values, name)
            lines = text[: text.index(f"\n{name} = ", text.index(f"[{section}]"))].split("\n")
            above = [line[2:] for line in lines if line.startswith("# ")]
            assert " ".join(above).endswith(comment), name
            assert comment[0].isupper() and comment.endswith("."), name
            if type(getattr(values, name)) in (int, float):
                assert " Range: " in comment, name
            assert not re.match(r"(Of|To|This|These|That|As) ", comment), name
    assert max(len(line) for line in text.splitlines() if line.startswith("#")) <= 102


def test_settings_of_records_survive_a_round_trip_without_those_of_self_play() -> None:
    given = {"games": ["a.zip", "b"], "board_sizes": ["9x9"], "label_sizes": {"9x9": 1.0, "19x19": 2.5}, "rank": "3d"}
    settings = settings_from_options(given | {"optimizer": "sgd", "threads": 2})
    text = to_toml(settings)
    assert parse_settings(text) == settings
    assert re.findall(r"^\[(\w+)\]$", text, re.MULTILINE) == ["records", "learn", "losses", "machine"]
    assert not re.search(r"^(workers|concurrency|random_epochs|searched_share|td_value) =", text, re.MULTILINE)
    assert text.count("\nprecision = ") == 1  # that of the training
    begin = settings.begin
    assert (settings.command, begin.network, begin.seed, settings.machine.threads) == ("learn", "b6c96", 1, 2)
    assert (settings.learn.epochs, settings.learn.drop_share, settings.learn.learning_rate) == (1, 0.5, 0.05)
    chosen = {"board_sizes": ["9x9"], "rank": "3d", "since": "", "until": "", "least_moves": 20}
    assert settings.records.filters == chosen


def test_mini_is_alphago_zero() -> None:
    visits, parameters = MINI.search.full(50)
    assert (MINI.cycle.network, MINI.cycle.cycles, MINI.cycle.games, visits) == ("b4c64", 100, 50, 100)
    assert (parameters.c_puct, parameters.root_noise, parameters.gumbel_moves) == (1.5, 0.25, 0)
    assert parameters.dirichlet_alpha / 81 == pytest.approx(0.3)
    assert [MINI.search.temperature_at(moves) for moves in (0, 29, 30, 60)] == [1, 1, 0, 0]
    assert MINI.games.moves_per_point * 81 == pytest.approx(200, abs=0.1)
    assert (MINI.learn.epochs, MINI.learn.learning_rate, MINI.learn.average) == (10, 1e-3, 0)
    assert {name for name, weight in vars(MINI.losses).items() if weight} == {"policy", "value"}


def test_temperature_falls_by_halves_and_visits_grow_by_cycle() -> None:
    search = SearchSettings(root="puct", temperature_moves=4, temperature_halflife=2, visits={"0": 16, "10": 32})
    assert [round(search.temperature_at(moves), 4) for moves in (3, 4, 6, 8)] == [1.0, 1.0, 0.575, 0.3625]
    assert [search.full(cycle)[0] for cycle in (0, 9, 10, 30)] == [16, 16, 32, 32]


def test_window_grows_ever_slower() -> None:
    window = WindowSettings(least=100, scale=50)
    sizes = [window.size(samples) for samples in (50, 100, 200, 400, 100_000)]
    assert sizes[:2] == [50, 100]
    # 100 + 0.4 (150^0.65 - 50^0.65) / (0.65 * 50^-0.35), by hand
    assert sizes[2] == 132
    assert sizes == sorted(sizes) and sizes[4] < 10_000


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[cycle]\ncycels = 3", r", line 2: unknown setting 'cycels' in \[cycle\]: did you mean 'cycles'\?"),
        ("\n\n[lern]\nsamples = 3", r", line 3: unknown section 'lern': did you mean 'learn'\?"),
        ("[learn]\n\nlearning_rate = 'high'", r", line 3: invalid learning_rate 'high': expected a number of 0"),
        ("[cycle]\ngames = 1.5", r", line 2: invalid games 1.5: expected a whole number of 1 or more"),
        ("[cycle]\ngames = 1e3", r", line 2: invalid games 1000.0: expected a whole number of 1 or more"),
        ("[learn]\nbatch_size = 64.0", r", line 2: invalid batch_size 64.0: expected a whole number of 2 or more"),
        ("[search]\nvisits = { 0 = 16.0 }", r", line 2: invalid visits for 0 16.0: expected a whole number of 1"),
        ("[cycle]\ngames = true", r", line 2: invalid games True: expected a whole number of 1 or more"),
        ("[cycle]\ngames = 0", r", line 2: invalid games 0: expected a whole number of 1 or more"),
        ("[learn]\nlearning_rate = nan", r", line 2: invalid learning_rate nan: expected a number of 0 or more"),
        ("[games]\nsizes = { 30 = 1.0 }", r", line 2: invalid board size '30': expected N or .*, each from 2 to 19"),
        ("[games]\nsizes = { 9 = 0.0 }", r"\[games\] sizes: no board size has a weight above 0"),
        ("[records]\nlabel_sizes = { 9 = 0.0 }", r"\[records\] label_sizes: no board size has a weight above 0"),
        ("[games]\nrules = ['japanese']", r"the rules 'japanese' count territory"),
        ("[machine]\nprecision = 'int8'", r", line 2: invalid precision 'int8': expected auto, float32, "),
        ("[search]\nroot = 'uct'", r", line 2: invalid root 'uct': expected gumbel or puct"),
        ("[search]\nvisits = { 5 = 10 }", r", line 2: invalid visits: expected a value for cycle 0"),
        ("[search]\n\n[search.parameters]\nc_putc = 1", r", line 3: unknown parameter 'c_putc': did you mean 'c_puct'"),
        (
            "[search]\nparameters = { temperature = 0.5 }",
            r", line 2: temperature is a setting of self-play, not a parameter: write it in \[search\]",
        ),
        ("[search]\nparameters.chosenMoveTemperature = 0.5", r", line 2: late_temperature is a setting of self-play"),
        ("\ncycle = 3", r", line 2: cycle is a section: expected \[cycle\] and its settings below, got 3"),
        ("[cycle]\nseed = 18446744073709551616", r", line 2: invalid seed 184\d+: expected a whole number from 0 to"),
        ("[learn]\nsamples = 0", r"^samples and epochs in \[learn\] are both 0: nothing would be learned"),
        ("[search]\nfull_share = 0", r", line 2: invalid full_share 0: expected a number from 0.01 to 1"),
        ("[cycle]\nnetwork = 'b6'", r"unknown architecture 'b6'"),
        ("\nlearnt = 3", r", line 2: unknown setting 'learnt' outside of the sections: did you mean 'learn'\?"),
        ("version = 7", r", line 1: settings of version 7; this program reads version 1. Start a new run"),
        (
            "[games]\nsure_winrate = 0.9",
            r", line 2: unknown setting 'sure_winrate' in \[games\]: did you mean 'resign_winrate'",
        ),
        ("[games]\nsure_moves = 2", r"unknown setting 'sure_moves' .* did you mean 'resign_moves'"),
        ("[games]\nsure_weight = 0.2", r"unknown setting 'sure_weight' .* did you mean 'resign_weight'"),
        ("[records]\nrank = '3d'", r", line 1: \[records\] names nothing to learn: no games, teacher or labels"),
        ("[records]\ngames = ['a']\n[match]", r", line 3: \[match\] is for runs by self-play, \[records\] for others"),
        (
            "[records]\ngames = 'a.sgf'",
            r", line 2: invalid games 'a.sgf': expected a list of texts such as \['games.zip', ",
        ),
        ("[games]\nrules = 'chinese'", r"expected a list of texts such as \['chinese', 'aga'\]"),
        ("[records]\ngames = ['a']\nrank = 'x'", r"unknown rank 'x'"),
        ("[cycle", r"Expected"),
    ],
)
def test_errors_name_the_line_and_the_nearest_name(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        parse_settings(text)


def test_a_repeatable_run_leaves_nothing_to_chance() -> None:
    text = '[cycle]\nrepeatable = true\n[machine]\nworkers = 1\nprecision = "float32"\n[learn]\nprecision = "float32"\n'
    assert parse_settings(text).cycle.repeatable
    for other in (text.replace("workers = 1", "workers = 2"), text.replace('"float32"', '"auto"', 1)):
        with pytest.raises(UserError, match="needs workers = 1 in"):
            parse_settings(other)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbf[cycle]\ncycles = 7\n")
    assert read_settings(file).cycle.cycles == 7


def test_the_example_differs_from_its_preset_in_one_setting() -> None:
    example = Path(__file__).parents[2] / "examples" / "no_ownership.toml"
    with_it, without = read_settings(preset_file("trial")), read_settings(example)
    assert with_it.losses.ownership > 0
    assert replace(with_it, losses=replace(with_it.losses, ownership=0.0)) == without


@pytest.mark.parametrize("root", ["puct", "gumbel"])
def test_cheap_searches_have_no_noise_whatever_the_parameters_say(root: str) -> None:
    noisy = {"root_noise": 0.3, "forced_playouts": 1.0, "gumbel_noise": 0.5, "c_puct": 1.7}
    _, cheap = SearchSettings(root=root, parameters=noisy).cheap()
    assert (cheap.root_noise, cheap.forced_playouts, cheap.gumbel_noise, cheap.c_puct) == (0.0, 0.0, 0.0, 1.7)


def test_the_preset_for_a_gpu_needs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "may_have_gpu", lambda: False)
    begun = CliRunner().invoke(main, ["train", str(tmp_path / "run"), "--preset", "gpu"])
    assert begun.exit_code == 1 and not (tmp_path / "run").exists()
    assert begun.stderr == (
        "Error: the preset gpu is made for a GPU, and none is found on this machine: choose --preset laptop, or adapt "
        "a copy of its file and name that with --settings\n"
    )
    copy = tmp_path / "gpu.toml"
    copy.write_text(preset_file("gpu").read_text())
    assert given_settings(None, copy) == read_settings(copy)
    monkeypatch.setattr(new_run, "find_device", lambda name: "cuda")
    assert given_settings("gpu", None) == read_settings(copy)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("arguments", [("selfplay",), ("train", "RUN")])
def test_endless_settings_are_refused(arguments: tuple[str, ...], tmp_path: Path) -> None:
    words = [str(tmp_path / word) if word == "RUN" else word for word in arguments]
    begun = CliRunner().invoke(main, [*words, "--settings", "/dev/zero"])
    message = "Error: /dev/zero: larger than 1 MB, the most that is read of such a file\n"
    assert (begun.exit_code, begun.stderr) == (1, message) and not any(tmp_path.iterdir())


def test_a_gpu_is_asked_for_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "may_have_gpu", lambda: False)
    begun = CliRunner().invoke(main, ["learn", str(tmp_path), "--out", str(tmp_path / "run"), "--device", "cuda"])
    assert begun.exit_code == 1 and not (tmp_path / "run" / "settings.toml").exists()
    assert begun.stderr.startswith("Error: device 'cuda' is not available: this machine has no GPU driver")

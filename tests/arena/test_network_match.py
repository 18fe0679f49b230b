"""Matches between networks in one process."""

import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from in_process import invoke

from gtp_engine.arena import network_match
from gtp_engine.arena.match import play_match
from gtp_engine.arena.network_match import NetworkPlayer, play_networks
from gtp_engine.arena.results import GameResult, MatchResult, OnGame
from gtp_engine.base.errors import UserError
from gtp_engine.base.files import folder_lock
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import read_sgf
from gtp_engine.nets.library import default_network
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.rollouts import UniformEvaluator
from gtp_engine.search.parameters import SearchParameters, default_parameters

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"
ROOT = Path(__file__).resolve().parents[2]


def play(
    a: str = "uniform",
    b: str = "none",
    games: int = 6,
    visits: int = 20,
    parameters: tuple[SearchParameters | None, SearchParameters | None] = (None, None),
    on_game: OnGame | None = None,
    **options: object,
) -> MatchResult:
    player_a, player_b = (NetworkPlayer(*both) for both in zip((a, b), parameters, strict=True))
    return play_networks(player_a, player_b, games=games, visits=visits, on_game=on_game, **({"width": 5} | options))


def test_a_network_may_be_a_name_or_a_path() -> None:
    result = play_networks(TINY, "none", games=2, visits=2, width=5, opening_moves=6)
    assert (result.commands, result.tally.games) == ({"A": str(TINY), "B": "none"}, 2)
    with pytest.raises(UserError, match="invalid network 5: expected a name or a file"):
        play_networks(5, "none")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="invalid visits '9'"):
        play_networks("none", "none", visits="9")


def test_rollouts_beat_knowing_nothing_with_either_colour(tmp_path: Path) -> None:
    shown: list[GameResult] = []
    result = play(folder=tmp_path, visits=60, on_game=lambda match, game: shown.append(game))
    assert (result.tally.wins, result.tally.losses, result.is_over) == (0, 6, True)
    assert result.commands == {"A": "uniform", "B": "none"}
    assert (result.name("A"), result.name("B")) == ("uniform", "rollouts")
    assert sorted(game.number for game in shown) == list(range(6))
    assert [game.black for game in result.games] == ["A", "B"] * 3
    records = [read_sgf(tmp_path / game.sgf) for game in result.games]
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert first.moves[:2] == second.moves[:2]
        assert (first.black, second.black) == ("uniform (A)", "rollouts (B)")
    assert len({tuple(record.moves[:2]) for record in records}) == 3
    for record, game in zip(records, result.games, strict=True):
        assert (record.result, len(record.moves)) == (game.result, game.moves)
        assert record.main_line[-1].comment == game.reason


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    half = play(games=2, folder=tmp_path)
    whole = play(games=4, folder=tmp_path)
    assert whole.games[:2] == half.games
    assert len(whole.games) == 4
    with pytest.raises(ValueError, match="holds another match: its visits is 20, not 30"):
        play(visits=30, folder=tmp_path)


def test_other_parameters_are_another_match_and_a_moved_network_is_not(tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    first, moved = tmp_path / "net.bin.gz", tmp_path / "moved" / "net.bin.gz"
    first.write_bytes(TINY.read_bytes())
    usual = default_parameters(str(first))

    def again(network: Path | str, value_bias: float) -> MatchResult:
        parameters = replace(usual, value_bias=value_bias), None
        options = {"games": 2, "visits": 1, "folder": tmp_path / "match", "device": "cpu"}
        return play(str(network), parameters=parameters, **options)

    again(first, 0.125)
    first.rename(moved)
    assert len(again(moved, 0.125).games) == 2
    with pytest.raises(ValueError, match=r"holds another match: its network A is \S+ value_bias=0.125, not .*=0.25"):
        again(moved, 0.25)
    with pytest.raises(ValueError, match="holds another match: its network A"):
        again("uniform", 0.125)


def test_another_network_in_the_same_file_is_another_match(tmp_path: Path) -> None:
    network = tmp_path / "network.bin.gz"
    options: dict[str, Any] = {
        "a": str(network),
        "games": 2,
        "visits": 1,
        "folder": tmp_path / "match",
        "device": "cpu",
    }
    network.write_bytes(TINY.read_bytes())
    play(**options)
    network.write_bytes(gzip.compress(gzip.decompress(TINY.read_bytes()), mtime=1))
    with pytest.raises(ValueError, match=r"holds another match: its SHA-256 of network A is"):
        play(**options)


def test_one_program_at_a_time_plays_a_match(tmp_path: Path) -> None:
    with folder_lock(tmp_path), pytest.raises(ValueError, match="another program is using this folder"):
        play(games=2, folder=tmp_path)


def test_the_same_again_for_a_seed() -> None:
    one, two = (play("uniform", "uniform", games=2, visits=8, seed=5) for _ in range(2))
    assert [(game.result, game.moves) for game in one.games] == [(game.result, game.moves) for game in two.games]


def test_a_network_plays() -> None:
    result = play(str(TINY), str(TINY), games=2, visits=2, device="cpu", precision="float32")
    assert len(result.games) == 2
    assert result.name("A") == result.name("B") == "tiny"


def test_networks_that_imitate_people_have_a_profile_each() -> None:
    human = str(TINY.with_name("human.bin.gz"))
    strong, weak = (default_parameters(human).with_value("profile", name) for name in ("rank_1d", "rank_5k"))
    options: dict[str, Any] = {"games": 2, "visits": 2, "device": "cpu", "precision": "float32"}
    result = play(human, human, parameters=(strong, weak), **options)
    assert (result.name("A"), result.name("B")) == ("human rank_1d", "human rank_5k")
    result = play(str(TINY), human, parameters=(None, weak), **options)
    assert (result.name("A"), result.name("B")) == ("tiny", "human rank_5k")
    with pytest.raises(ValueError, match=r"human imitates humans: choose a profile .* --set-a and --set-b profile="):
        play(str(TINY), human, **options)
    with pytest.raises(ValueError, match="tiny does not imitate humans"):
        play(str(TINY), human, parameters=(weak, weak), **options)


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese"])
def test_other_rules_have_a_count_too(rules: str) -> None:
    result = play("none", "none", games=2, visits=40, rules=RULESETS[rules], komi=0.5)
    assert all(game.reason in ("score", "resignation") for game in result.games)


def test_a_won_game_is_not_played_to_its_end() -> None:
    games = play("none", "none", games=2, visits=60, komi=-200).games
    assert [(game.winner, game.result, game.reason) for game in games] == [
        ("A", "B+R", "resignation"),
        ("B", "B+R", "resignation"),
    ]


def test_a_long_game_is_counted_if_all_stones_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_match, "_END_RULES", replace(network_match._END_RULES, moves_per_point=0.2))
    (counted,) = play(games=1, rules=RULESETS["tromp-taylor"], komi=100).games
    assert (counted.winner, counted.result[:2], counted.reason, counted.moves) == ("B", "W+", "score", 5)
    (broken_off,) = play(games=1, rules=RULESETS["chinese"], komi=100).games
    assert (broken_off.winner, broken_off.result, broken_off.reason) == (None, "Void", "move cap")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"visits": 0}, "invalid visits 0: expected a whole number of 1 or more"),
        ({"a": "nowhere"}, "no network 'nowhere'"),
        ({"a": str(TINY), "width": 21, "device": "cpu"}, "tiny plays on boards up to 19x19"),
    ],
)
def test_wrong_settings(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        play(**options)  # type: ignore[arg-type]


def run(*arguments: str) -> Result:
    return invoke("match", *arguments, "--board-size", "5")


def test_the_command(tmp_path: Path) -> None:
    words = "--network", "uniform", "--network", "none", "--games", "2", "--visits", "40", "--threads", "1"
    done = run(*words, "--sgf-dir", str(tmp_path / "games"), "--json", str(tmp_path / "result.json"))
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sorted(line[:28] for line in lines[:2]) == ["game 1: uniform (A) - rollou", "game 2: rollouts (B) - unifo"]
    assert lines[2].startswith("2 of 2 games: A won 0, lost 2, drew 0; score 0.0%")
    report = json.loads((tmp_path / "result.json").read_text())
    assert (report["losses"], report["engines"]["A"]["name"]) == (2, "uniform")
    assert len(list((tmp_path / "games").glob("*.sgf"))) == 2
    again = run(*words, "--sgf-dir", str(tmp_path / "games")).stdout.splitlines()
    assert again[-1] == f"nothing was played: the results are those of 2 games already in {tmp_path / 'games'}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "b", "--network", "none"), "Error: give two engines or --network twice, not both"),
        (("a",), "Error: a match needs two engines, or --network twice; given: 1 engine"),
        (("--network", "none"), "Error: a match needs two engines, or --network twice; given: 1 of --network"),
        (("a", "b", "--set-a", "profile=rank_5k"), "Error: --set-a is only for matches between networks"),
        (("a", "b", "--visits", "5"), "Error: --visits is only for matches between networks"),
        (
            ("--network", "none", "--network", "none", "--time", "0", "1", "1"),
            "Error: --time is only for matches between GTP engines",
        ),
        (
            ("--network", "none", "--network", "none", "--cluster", "auto", "--threads", "2"),
            "Error: each CPU of a cluster plays with one thread: omit --threads",
        ),
    ],
)
def test_kinds_of_players_and_options_are_not_mixed(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, message)


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_keeps_the_games(tmp_path: Path) -> None:
    words = "--network", "uniform", "--network", "none", "--games", "100000", "--concurrency", "4", "--threads", "1"
    command = [sys.executable, "-m", "gtp_engine", "match", *words, "--board-size", "5", "--sgf-dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("game ")
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors) == (130, False)
    assert out.splitlines()[-1] == f"stopped; resume with --sgf-dir {tmp_path}"
    played = len((tmp_path / "results.jsonl").read_text().splitlines())
    assert out.splitlines()[-2].startswith(f"{played} of 100,000 games: ")


def test_a_network_that_cannot_be_loaded_closes_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Evaluator] = []
    closed: list[str] = []

    def load(network: str, **options: Any) -> Evaluator:
        if network == "none":
            raise UserError("cannot be loaded")
        loaded.append(UniformEvaluator())
        monkeypatch.setattr(loaded[-1], "close", lambda: closed.append(network))
        return loaded[-1]

    monkeypatch.setattr("gtp_engine.engine.worker.make_evaluator", load)
    with pytest.raises(UserError, match="cannot be loaded"):
        play("uniform", "none", games=2)
    assert len(loaded) == 1 and closed == ["uniform"]


def test_a_misspelt_setting_names_the_function_and_the_right_word() -> None:
    with pytest.raises(TypeError, match=r"play_networks\(\) got an unexpected .* 'vists': did you mean 'visits'\?"):
        play_networks(TINY, "none", vists=2)
    with pytest.raises(TypeError, match=r"play_match\(\) got an .* 'concurency': did you mean 'concurrency'"):
        play_match("a", "b", concurency=2)


def test_auto_stands_for_the_network_of_the_board() -> None:
    result = play_networks("auto", "none", games=1, visits=1, width=9, opening_moves=60, threads=1)
    assert result.commands["A"] == str(default_network(9, 9))

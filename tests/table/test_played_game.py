"""A game that is played here, however it is shown."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.engine.clock import TimeSettings
from gtp_engine.engine.engine import Engine, EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf
from gtp_engine.table.played_game import PlayedGame
from gtp_engine.table.saved_games import open_game, read_notes


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(EngineSettings(network="uniform", threads=1, seed=1, visits=8), width=5) as engine:
        yield engine


def test_the_clocks_stand_still_in_a_program_that_does_not_show_them(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("gtp_engine.table.game_clock.monotonic", lambda: now)
    both = frozenset((BLACK, WHITE))
    played = PlayedGame(engine, humans=both, folder=tmp_path, has_clock=True)
    played.begin(engine.game, both, TimeSettings("byoyomi", 100.0, 30.0, 3))
    played.play("C3")
    now += 90
    played.save()
    assert played.file.path is not None
    played.load(open_game(played.file.path))
    assert played.clock.left(WHITE) == (10.0, 0)

    terminal = PlayedGame(engine, humans=both, folder=tmp_path)
    terminal.load(open_game(played.file.path))
    now += 5000
    assert not terminal.lose_on_time() and terminal.clock.left(WHITE) is None
    terminal.play("B2")
    terminal.play("D4")
    played.load(open_game(played.file.path))
    assert (played.clock.left(BLACK), played.clock.left(WHITE)) == ((100.0, 0), (10.0, 0))
    assert played.time == TimeSettings("byoyomi", 100.0, 30.0, 3)


def test_a_finished_game_keeps_its_opponent(engine: Engine, tmp_path: Path) -> None:
    engine.settings = replace(engine.settings, rank="12k")
    played = PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path)
    played.play("C3")
    played.resign(BLACK)
    engine.settings = replace(engine.settings, rank="3k", visits=2)
    played.save()
    assert played.file.path is not None
    root = read_sgf(played.file.path).root.properties
    assert [*root["PW"], *root["WR"], *root["RE"]] == [b"gtp_engine 12k", b"12k", b"W+R"]
    assert read_notes(root).limits.visits == 8
    played.undo()  # play continues against the present opponent
    assert read_sgf(played.file.path).root.properties["WR"] == [b"3k"]


def test_a_disputed_count_keeps_the_opponent_of_the_first_one(engine: Engine, tmp_path: Path) -> None:
    engine.settings = replace(engine.settings, rank="12k")
    played = PlayedGame(engine, humans=frozenset((BLACK, WHITE)), folder=tmp_path)
    played.humans = frozenset((BLACK,))
    for vertex in ("C3", "B2", "pass", "pass"):
        played.play(vertex)
    played.count(())
    engine.settings = replace(engine.settings, rank="3k")
    played.count((played.game.point("B2"),))
    assert played.file.path is not None
    root = read_sgf(played.file.path).root.properties
    assert root["WR"] == [b"12k"] and root["RE"] != [b"0"]


def loaded(engine: Engine, tmp_path: Path, sgf: str) -> PlayedGame:
    """Returns a game that continues another program's record against the engine."""
    file = tmp_path / "record.sgf"
    file.write_text(sgf)
    played = PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path / "games")
    played.load(open_game(file))
    assert played.humans == {BLACK}
    return played


def test_undo_leaves_what_is_set_up_in_a_loaded_game(engine: Engine, tmp_path: Path) -> None:
    played = loaded(engine, tmp_path, "(;GM[1]SZ[5]HA[2]KM[0.5];AB[bb][dd]PL[W];W[cc])")
    assert not played.can_undo
    played.play("A1")
    played.undo()
    assert len(played.game.moves) == 1
    with pytest.raises(UserError, match="you have no move to take back"):
        played.undo()
    assert read_sgf(played.file.path or "").main_line[1].properties["AB"] == [b"bb", b"dd"]


def test_what_a_record_has_before_stones_are_set_up_was_given_too(engine: Engine, tmp_path: Path) -> None:
    played = loaded(engine, tmp_path, "(;GM[1]SZ[5];B[cc];W[bb];B[dd];AB[aa];W[db])")
    assert (played.given, played.numbers) == (4, range(5, 5))
    played.play("A1" if played.game.is_legal("A1") else "E1")
    assert played.numbers == range(5, 6)
    played.undo()
    assert (played.given, played.numbers) == (4, range(5, 5))
    for move in ("A1", "E1", "A4"):
        played.play(move)
    before = played.tree.to_game(6)  # two of these, and the last of the record
    played.begin(before, played.humans)
    assert (played.given, len(played.game.moves)) == (1, 3)


def test_a_saved_game_knows_how_many_moves_it_began_with(engine: Engine, tmp_path: Path) -> None:
    played = loaded(engine, tmp_path, "(;GM[1]SZ[5];B[cc];W[bb])")
    played.play("A1")
    assert played.numbers == range(3, 4) and played.file.path is not None
    again = PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path / "games")
    again.load(open_game(played.file.path))
    assert again.numbers == range(3, 4)
    again.load(open_game(played.file.path, move=1))
    again.play("E5")
    assert again.numbers == range(2, 3), "a move in the place of one of the record"


def test_undo_passes_over_nodes_without_a_move(engine: Engine, tmp_path: Path) -> None:
    played = loaded(engine, tmp_path, "(;GM[1]SZ[5];B[bb];W[dd];C[a pause];B[cc];W[db];C[the end])")
    for left in (2, 0):
        played.undo()
        assert len(played.game.moves) == left and played.game.to_move == BLACK
    assert not played.can_undo

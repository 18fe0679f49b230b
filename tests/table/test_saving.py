"""The file of a game: what replaces it, and what does not."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.table.saved_games import GameFile


def record(*moves: str) -> GameRecord:
    game = Game(5)
    for move in moves:
        game.play(game.to_move, move)
    return GameRecord.from_game(game)


def moves(path: Path | None) -> int:
    assert path is not None
    return len(read_sgf(path).moves)


def test_every_save_updates_the_same_file(tmp_path: Path) -> None:
    file = GameFile(tmp_path / "games")
    assert file.save(record("C3")) and file.save(record("C3", "B2")) and file.notice is None
    assert moves(file.path) == 2 and len(list((tmp_path / "games").iterdir())) == 1


def test_an_update_serialises_the_game_once(tmp_path: Path) -> None:
    file, longer = GameFile(tmp_path), Mock(wraps=record("C3", "B2"))
    assert file.save(record("C3")) and file.save(longer)
    longer.to_sgf.assert_called_once()
    assert moves(file.path) == 2


def test_the_games_own_file_may_be_spelt_differently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = GameFile(tmp_path / "games")
    assert file.save_as(record("C3"), "mine.sgf") and file.save_as(record("C3", "B2"), str(tmp_path / "mine.sgf"))
    assert moves(tmp_path / "mine.sgf") == 2


def test_two_programs_that_continue_a_game_keep_both_games(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    GameFile(tmp_path).save_as(record("C3"), str(path))
    one, two = GameFile(tmp_path, path=path), GameFile(tmp_path, path=path)
    assert one.save(record("C3", "B2")) and one.save(record("C3", "B2", "D4"))
    assert two.save(record("C3", "D2"))
    assert (one.path, one.notice) == (path, None)
    assert two.notice == f"another program has changed {path}: this game is now saved to {two.path}"
    assert (moves(path), moves(two.path)) == (3, 2)
    assert two.save(record("C3", "D2", "A1", "A2")) and two.notice is None
    assert (moves(path), moves(two.path)) == (3, 4)


def test_a_game_that_is_given_a_file_leaves_no_copy_behind(tmp_path: Path) -> None:
    mine, other, folder = tmp_path / "mine.sgf", tmp_path / "other.sgf", tmp_path / "games"
    file = GameFile(folder)
    assert file.save(record("C3")) and len(list(folder.iterdir())) == 1
    assert not file.save_as(record("C3"), str(tmp_path)) and len(list(folder.iterdir())) == 1
    assert file.save_as(record("C3"), str(mine)) and list(folder.iterdir()) == []
    assert file.save(record("C3", "B2")) and moves(mine) == 2
    assert file.save_as(record("C3", "B2"), str(other))
    assert mine.exists() and other.exists()  # both were named


def test_a_file_that_was_named_or_changed_stays_when_the_game_is_given_another(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    changed, named = GameFile(folder, "changed"), folder / "named.sgf"
    assert changed.save(record("C3")) and changed.path is not None
    before = changed.path
    before.write_text(before.read_text() + "\n")
    assert changed.save_as(record("C3"), str(named)) and before.exists()
    again = GameFile(folder, path=named)
    assert again.save(record("C3", "B2")) and again.save_as(record("C3", "B2"), str(tmp_path / "mine.sgf"))
    assert named.exists()


def test_a_game_that_was_continued_leaves_no_copy_behind_either(tmp_path: Path) -> None:
    folder, first = tmp_path / "games", GameFile(tmp_path / "games", "5x5-engine")
    assert first.save(record("C3")) and first.path is not None
    path = first.path
    elsewhere = tmp_path / path.name
    elsewhere.write_bytes(path.read_bytes())
    copy = GameFile(folder, path=elsewhere)
    assert copy.save_as(record("C3"), str(tmp_path / "one.sgf")) and elsewhere.exists()
    continued = GameFile(folder / "..", path=path)
    assert continued.save_as(record("C3"), str(tmp_path / "two.sgf")) and path.exists()  # another folder
    continued = GameFile(folder, path=path)
    assert continued.save_as(record("C3", "B2"), str(tmp_path / "three.sgf")) and list(folder.iterdir()) == []
    assert continued.save(record("C3", "B2", "D4")) and moves(tmp_path / "three.sgf") == 3


def test_a_continued_game_that_another_program_has_changed_stays(tmp_path: Path) -> None:
    first = GameFile(tmp_path)
    assert first.save(record("C3")) and first.path is not None
    continued = GameFile(tmp_path, path=first.path)
    assert first.save(record("C3", "B2"))
    assert continued.save_as(record("C3", "D2"), str(tmp_path / "mine.sgf")) and moves(first.path) == 2


@pytest.mark.parametrize("is_own", [False, True])
def test_a_file_that_was_deleted_is_written_again(tmp_path: Path, is_own: bool) -> None:
    path = tmp_path / "game.sgf"
    file = GameFile(tmp_path)
    file.save_as(record("C3"), str(path))
    file = file if is_own else GameFile(tmp_path, path=path)
    path.unlink()
    assert file.save(record("C3", "B2")) and file.notice is None
    assert (file.path, moves(path)) == (path, 2)

"""Saved games: what is taken from a record that continues, what a file notes, and what replaces a file."""

import os
import re
from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.engine.clock import NO_LIMIT, TimeSettings
from gtp_engine.engine.ranks import Rank
from gtp_engine.go.coords import BLACK, WHITE, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS, parse_rules
from gtp_engine.go.sgf import GameRecord, read_sgf, write_sgf
from gtp_engine.search.request import Limits
from gtp_engine.table.game_index import latest_unfinished, unfinished_games
from gtp_engine.table.saved_games import (
    GameFile,
    Notes,
    Opponent,
    SavedGame,
    find_game,
    open_game,
    read_notes,
)


def record(moves: str = "C3 E5", **fields: object) -> GameRecord:
    """Returns the record of a game on 9x9 as `play` saves it."""
    game = Game(9, rules=RULESETS["japanese"], komi=5.5)
    for name in moves.split():
        game.play(game.to_move, parse_vertex(name, 9, 9))
    made = GameRecord.from_game(game, black="human", white="gtp_engine b6c64 12k", date="2020-02-02")
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def saved(folder: Path, made: GameRecord, name: str = "game.sgf", age: int = 0) -> Path:
    path = folder / name
    write_sgf(made, path)
    time = 1_700_000_000 - age
    os.utime(path, (time, time))
    return path


def comments(game: SavedGame) -> dict[int, str]:
    """Returns the comments by the number of the node."""
    return {number: node.comment for number, node in enumerate(game.node.path) if node.comment}


def test_a_game_of_play_is_continued_as_it_was(tmp_path: Path) -> None:
    made = record()
    made.main_line[0].comment, made.main_line[2].comment = "the start", "well played"
    game = open_game(saved(tmp_path, made))
    assert (game.game.komi, game.game.rules, len(game.game.moves)) == (5.5, RULESETS["japanese"], 2)
    assert game.game.to_move == BLACK
    assert game.humans == {BLACK}
    assert game.opponent == Opponent("b6c64", Rank(-11))
    assert game.is_own
    assert (game.tree.date, comments(game)) == ("2020-02-02", {0: "the start", 2: "well played"})
    assert game.in_words() == f"continuing {tmp_path / 'game.sgf'} after 2 moves"
    begun = open_game(tmp_path / "game.sgf", move=0)
    assert begun.in_words().startswith(f"continuing {tmp_path / 'game.sgf'} before the first move")


@pytest.mark.parametrize(
    ("name", "opponent"),
    [
        ("gtp_engine", Opponent(None, None)),
        ("gtp_engine 3d", Opponent(None, Rank(3))),
        ("gtp_engine b6c64-19x19", Opponent("b6c64-19x19", None)),
        ("gtp_engine my own net 1k", Opponent("my own net", Rank(0))),
        ("gtp_engine 99k", None),
        ("GNU Go", None),
    ],
)
def test_the_opponent_is_read_from_the_engines_name(tmp_path: Path, name: str, opponent: Opponent | None) -> None:
    game = open_game(saved(tmp_path, record(black=name, white="human")))
    assert game.opponent == opponent
    assert game.humans == {WHITE}


def test_handicap_and_rules_of_ones_own_return(tmp_path: Path) -> None:
    rules = parse_rules('{"ko":"SITUATIONAL","scoring":"TERRITORY"}')
    game = Game(9, rules=rules, komi=0.5)
    game.place_handicap([parse_vertex(name, 9, 9) for name in ("C3", "G7")])
    made = GameRecord.from_game(game, black="human", white="human")
    opened = open_game(saved(tmp_path, made))
    assert (opened.game.handicap, opened.game.to_move, opened.game.rules) == (2, WHITE, rules)
    assert opened.humans == {BLACK, WHITE}
    assert opened.opponent is None


def test_another_programs_game_is_continued_by_the_player_to_move_in_a_new_file(tmp_path: Path) -> None:
    made = record("C3 E5 G7", application="Sabaki", black="Ann", white="Bob")
    opened = open_game(saved(tmp_path, made))
    assert (opened.humans, opened.opponent, opened.is_own) == ({WHITE}, None, False)
    assert opened.in_words().endswith("after 3 moves; it will be saved as a new game")


@pytest.mark.parametrize("rest", ["(;GM[1]SZ[9];B[aa])", "(;GM[1]SZ[9];B[aa]", "\n(;GM[2])"])
@pytest.mark.parametrize("suffix", [".sgf", ".sgfs"])
def test_a_file_with_other_games_is_never_updated(tmp_path: Path, rest: str, suffix: str) -> None:
    path = saved(tmp_path, record(), f"games{suffix}")
    path.write_text(path.read_text() + rest)
    opened = open_game(path)
    assert (opened.is_own, opened.humans, len(opened.game.moves)) == (False, {BLACK}, 2)
    assert opened.in_words() == (
        f"continuing {path} after 2 moves; only the first game in the file was opened; it will be saved as a new game"
    )
    path.write_text(path.read_text().replace("(;", "(;GEDIT[1]", 1))
    assert not open_game(path).is_edited
    assert list(unfinished_games(tmp_path, with_edited=True)) == []


@pytest.mark.parametrize("rest", ["\n\0\n", "(;-)"])
def test_what_follows_a_game_and_is_none_does_not_count(tmp_path: Path, rest: str) -> None:
    path = saved(tmp_path, record())
    path.write_text(path.read_text() + rest)
    opened = open_game(path)
    assert opened.is_own and opened.remarks == ()


def test_an_earlier_move_is_continued_in_a_new_file(tmp_path: Path) -> None:
    made = record("C3 E5 G7", result="B+R")
    made.main_line[1].comment = made.main_line[3].comment = "x"
    path = saved(tmp_path, made)
    opened = open_game(path, move=1)
    assert (len(opened.game.moves), opened.game.to_move, opened.is_own) == (1, WHITE, False)
    assert comments(opened) == {1: "x"}
    assert not open_game(path, move=3).is_own  # its result stays on disk
    assert open_game(path, move=0).game.moves == []


@pytest.mark.parametrize(
    ("fields", "move", "has_limits"),
    [
        ({}, None, True),
        ({}, 1, True),
        ({"result": "W+T"}, 1, True),
        ({"application": "Sabaki"}, 1, False),
        ({"black": "Ann"}, 1, False),
    ],
)
def test_the_time_limits_of_ones_own_games_are_kept(
    tmp_path: Path, fields: dict[str, str], move: int | None, has_limits: bool
) -> None:
    made = record("C3 E5 G7", time_limit=600, overtime="3x30 byo-yomi", **fields)
    expected = TimeSettings("byoyomi", 600.0, 30.0, 3) if has_limits else NO_LIMIT
    assert open_game(saved(tmp_path, made), move=move).time == expected


def test_set_up_after_the_first_move_begins_the_game_anew(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[9];B[cc]C[one];W[dd]AB[ee];B[ff]C[three])")
    opened = open_game(path)
    assert len(opened.game.moves) == 2
    assert comments(opened) == {1: "one", 3: "three"}  # nodes are counted, whatever is set up


def test_rules_and_komi_can_be_replaced(tmp_path: Path) -> None:
    opened = open_game(saved(tmp_path, record()), rules=RULESETS["aga"], komi=3)
    assert (opened.game.rules, opened.game.komi) == (RULESETS["aga"], 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1]SZ[9]RE[W+3.5];B[cc])", r"the game is finished \(W\+3.5\); .* after move N, 0 to 1, add --move N"),
        ("(;GM[1]SZ[37];B[cc])", "cannot play on a board of 37x37: expected 2 to 25 each way"),
        ("hello", "no game record found"),
        ("(;GM[2];B[cc])", r"not a game of Go: GM\[2\]"),
    ],
)
def test_one_line_for_what_cannot_be_continued(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(text)
    with pytest.raises(UserError, match=message) as error:
        open_game(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_game_ends_before_an_illegal_move(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9]AP[gtp_engine]RU[AGA]KM[7]PB[human]PW[gtp_engine 12k];B[cc];W[gg];B[cc](;W[aa])(;W[bb]))")
    opened = open_game(path)
    assert (len(opened.game.moves), opened.game.to_move, opened.tree.moves) == (2, BLACK, opened.game.moves)
    ending = "move 3: illegal move: C7 is occupied: the game is shown up to there"
    assert f"after 2 moves; {ending}; it will be saved as" in opened.in_words()
    assert not opened.is_own  # so that saving does not take the other moves from the file
    with pytest.raises(UserError, match="move 3: illegal move: C7 is occupied"):
        open_game(path, move=3)


def test_a_move_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no move 3; the game has 2 moves"):
        open_game(saved(tmp_path, record()), move=3)


@pytest.mark.parametrize(("moves", "result"), [("C3 E5", "?"), ("C3 E5", "Void"), ("C3 E5", ""), ("C3 pass pass", "")])
def test_results_without_a_winner_are_unfinished(tmp_path: Path, moves: str, result: str) -> None:
    opened = open_game(saved(tmp_path, record(moves, result=result)))
    assert (opened.is_own, opened.game.is_over) == (True, "pass" in moves)


def test_the_latest_unfinished_game_of_play(tmp_path: Path) -> None:
    wanted = saved(tmp_path, record(), "wanted.sgf", age=50)
    older = saved(tmp_path, record(), "older.sgf", age=60)
    saved(tmp_path, record(result="B+R"), "finished.sgf", age=40)
    saved(tmp_path, record(application="Sabaki"), "other.sgf", age=30)
    saved(tmp_path, record(black="gtp_engine a"), "selfplay.sgf", age=20)
    (tmp_path / "broken.sgf").write_text("(;")
    re_encoded = record().to_sgf().replace("GM[1]", "GM[1]GN[ゾ]").replace("UTF-8", "Shift_JIS").encode("cp932")
    wanted.write_bytes(re_encoded)  # this character's second byte is that of "]"
    os.utime(wanted, (wanted.stat().st_atime, older.stat().st_mtime + 10))
    (tmp_path / "folder.sgf").mkdir()
    assert list(unfinished_games(tmp_path)) == [wanted, older]
    assert latest_unfinished(tmp_path) == wanted


def test_a_game_that_somebody_else_has_saved_in_the_folder_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = saved(tmp_path, record(), "mine.sgf"), saved(tmp_path, record(), "theirs.sgf")
    may_write = os.access
    monkeypatch.setattr("os.access", lambda path, mode: path != theirs and may_write(path, mode))
    assert unfinished_games(tmp_path) == [mine]


def test_a_file_is_read_again_only_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = saved(tmp_path, record(), "other.sgf", age=60)
    saved(tmp_path, record(result="B+R"), "finished.sgf")
    (tmp_path / "bare.sgf").write_text("(SZ[9]AP[gtp_engine]PB[human];B[ee])")  # the root has no semicolon
    read: list[Path] = []

    def note(path: Path) -> GameRecord:
        read.append(path)
        return read_sgf(path)

    monkeypatch.setattr("gtp_engine.table.game_index.read_sgf", note)
    assert unfinished_games(tmp_path) == [tmp_path / "bare.sgf", other] and len(read) == 3
    other.write_text(record(result="B+R").to_sgf())
    assert unfinished_games(tmp_path) == [tmp_path / "bare.sgf"] and read[3:] == [other]


def test_the_game_to_leave_out_is_known_by_any_of_its_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    present, other = saved(folder, record(), "present.sgf"), saved(folder, record(), "other.sgf", age=10)
    monkeypatch.chdir(tmp_path)
    for path in (present, Path("games/present.sgf"), folder / ".." / "games" / "present.sgf"):
        assert list(unfinished_games(folder, path)) == [other]
    assert list(unfinished_games(Path("games"), present)) == [Path("games/other.sgf")]
    assert list(unfinished_games(folder, Path("games/missing.sgf"))) == [present, other]


def test_no_unfinished_game(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UserError, match=f"no unfinished game in {folder}"):
            latest_unfinished(folder)


def test_names_of_saved_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, record(), "a game.sgf")
    monkeypatch.chdir(tmp_path.parent)
    assert find_game(str(path), Path("nowhere")) == path
    assert find_game("a game.sgf", tmp_path) == find_game("a game", tmp_path) == path
    assert find_game(f"{tmp_path.name}/a game.sgf", Path("nowhere")).samefile(path)
    for name in ("b", "~nobody-has-this-name/b", ""):
        with pytest.raises(UserError, match="no saved game"):
            find_game(name, tmp_path)
    (tmp_path / "folder").mkdir()
    for name in (".", "folder", str(tmp_path / "folder")):
        with pytest.raises(UserError, match=rf"^{re.escape(name)} is a folder: name a file in it$"):
            find_game(name, tmp_path)


def test_notes_survive_a_file() -> None:
    tree = read_sgf(b"(;GM[1]SZ[9]PB[human]KGSDE[x];B[ee])")
    notes = Notes({BLACK: 83.25, WHITE: 4.0}, Limits(100, 2.5), given=2, is_edited=True)
    tree.root.properties = notes.added_to(tree.root.properties)
    root = read_sgf(tree.to_sgf().encode()).root.properties
    assert root["KGSDE"] == [b"x"] and root["PB"] == [b"human"]
    assert read_notes(root) == Notes({BLACK: 83.2, WHITE: 4.0}, Limits(100, 2.5), given=2, is_edited=True)


def test_no_notes_leave_nothing() -> None:
    before = read_sgf(b"(;GM[1]SZ[9]GEBT[1]GEWT[2]GESEC[3]GEVIS[4]GEGIV[5]GEDIT[1])").root.properties
    assert not any(name.startswith("GE") for name in Notes().added_to(before))


def test_invalid_notes_are_left_out() -> None:
    root = read_sgf(b"(;GM[1]SZ[9]GEBT[-3]GEWT[soon]GESEC[0]GEVIS[nan]GEGIV[0])").root.properties
    assert read_notes(root) == Notes({BLACK: 0.0, WHITE: 0.0})
    for visits in (b"0.5", b"12.7", b"-1", b"1e999"):
        root = read_sgf(b"(;GM[1]SZ[9]GEBT[inf]GEWT[1e999]GESEC[inf]GEVIS[" + visits + b"])").root.properties
        assert read_notes(root) == Notes({BLACK: 0.0, WHITE: 0.0})


def played(*moves: str) -> GameRecord:
    game = Game(5)
    for move in moves:
        game.play(game.to_move, move)
    return GameRecord.from_game(game)


def moves(path: Path | None) -> int:
    assert path is not None
    return len(read_sgf(path).moves)


def test_every_save_updates_the_same_file_and_serialises_the_game_once(tmp_path: Path) -> None:
    file, longer = GameFile(tmp_path / "games"), Mock(wraps=played("C3", "B2"))
    assert file.save(played("C3")) and file.save(longer) and file.notice is None
    longer.to_sgf.assert_called_once()
    assert moves(file.path) == 2 and len(list((tmp_path / "games").iterdir())) == 1


def test_the_games_own_file_may_be_spelt_differently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = GameFile(tmp_path / "games")
    assert file.save_as(played("C3"), "mine.sgf") and file.save_as(played("C3", "B2"), str(tmp_path / "mine.sgf"))
    assert moves(tmp_path / "mine.sgf") == 2


def test_two_programs_that_continue_a_game_keep_both_games(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    GameFile(tmp_path).save_as(played("C3"), str(path))
    one, two = GameFile(tmp_path, path=path), GameFile(tmp_path, path=path)
    assert one.save(played("C3", "B2")) and one.save(played("C3", "B2", "D4"))
    assert two.save(played("C3", "D2"))
    assert (one.path, one.notice) == (path, None)
    assert two.notice == f"another program has changed {path}: this game is now saved to {two.path}"
    assert (moves(path), moves(two.path)) == (3, 2)
    assert two.save(played("C3", "D2", "A1", "A2")) and two.notice is None
    assert (moves(path), moves(two.path)) == (3, 4)


def test_a_game_that_is_given_a_file_leaves_no_copy_behind(tmp_path: Path) -> None:
    mine, other, folder = tmp_path / "mine.sgf", tmp_path / "other.sgf", tmp_path / "games"
    file = GameFile(folder)
    assert file.save(played("C3")) and len(list(folder.iterdir())) == 1
    assert not file.save_as(played("C3"), str(tmp_path)) and len(list(folder.iterdir())) == 1
    assert file.save_as(played("C3"), str(mine)) and list(folder.iterdir()) == []
    assert file.save(played("C3", "B2")) and moves(mine) == 2
    assert file.save_as(played("C3", "B2"), str(other))
    assert mine.exists() and other.exists()  # both were named


def test_a_file_that_was_named_or_changed_stays_when_the_game_is_given_another(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    changed, named = GameFile(folder, "changed"), folder / "named.sgf"
    assert changed.save(played("C3")) and changed.path is not None
    before = changed.path
    before.write_text(before.read_text() + "\n")
    assert changed.save_as(played("C3"), str(named)) and before.exists()
    again = GameFile(folder, path=named)
    assert again.save(played("C3", "B2")) and again.save_as(played("C3", "B2"), str(tmp_path / "mine.sgf"))
    assert named.exists()


def test_a_game_that_was_continued_leaves_no_copy_behind_either(tmp_path: Path) -> None:
    folder, first = tmp_path / "games", GameFile(tmp_path / "games", "5x5-engine")
    assert first.save(played("C3")) and first.path is not None
    path = first.path
    elsewhere = tmp_path / path.name
    elsewhere.write_bytes(path.read_bytes())
    copy = GameFile(folder, path=elsewhere)
    assert copy.save_as(played("C3"), str(tmp_path / "one.sgf")) and elsewhere.exists()
    continued = GameFile(folder / "..", path=path)
    assert continued.save_as(played("C3"), str(tmp_path / "two.sgf")) and path.exists()  # another folder
    continued = GameFile(folder, path=path)
    assert continued.save_as(played("C3", "B2"), str(tmp_path / "three.sgf")) and list(folder.iterdir()) == []
    assert continued.save(played("C3", "B2", "D4")) and moves(tmp_path / "three.sgf") == 3


def test_a_continued_game_that_another_program_has_changed_stays(tmp_path: Path) -> None:
    first = GameFile(tmp_path)
    assert first.save(played("C3")) and first.path is not None
    continued = GameFile(tmp_path, path=first.path)
    assert first.save(played("C3", "B2"))
    assert continued.save_as(played("C3", "D2"), str(tmp_path / "mine.sgf")) and moves(first.path) == 2


@pytest.mark.parametrize("is_own", [False, True])
def test_a_file_that_was_deleted_is_written_again(tmp_path: Path, is_own: bool) -> None:
    path = tmp_path / "game.sgf"
    file = GameFile(tmp_path)
    file.save_as(played("C3"), str(path))
    file = file if is_own else GameFile(tmp_path, path=path)
    path.unlink()
    assert file.save(played("C3", "B2")) and file.notice is None
    assert (file.path, moves(path)) == (path, 2)


def test_what_a_killed_program_has_left_is_removed(tmp_path: Path) -> None:
    names = (".game.17.tmp.sgf", ".game.18.tmp.sgf", ".notes.tmp.sgf", "game.17.tmp.sgf")
    for name in names:
        (tmp_path / name).write_text("(;")
    for name in names[1:]:
        os.utime(tmp_path / name, (0, 0))
    GameFile(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names} - {names[1]}  # the first may still be written

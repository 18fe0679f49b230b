"""Games that `gtp_engine play` saves and continues, with piped input."""

import re
from pathlib import Path

from piped_game import only_game, play, run

from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf


def folder_in_a_file(tmp_path: Path) -> Path:
    """Returns a folder that nobody can make."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "games"


def test_the_end_of_input_saves_and_leaves(tmp_path: Path) -> None:
    said = play("C3\n", tmp_path)
    assert re.search(r"white plays [A-E][1-5]  \(\d+\.\d s, your win rate \d+%\)", said)
    game = read_sgf(only_game(tmp_path)).to_game()
    assert len(game.moves) == 2
    assert f"saved to {only_game(tmp_path)}" in said


def test_save_to_a_file_of_your_own(tmp_path: Path) -> None:
    mine, taken = tmp_path / "mine.sgf", tmp_path / "taken.sgf"
    taken.write_text("precious")
    said = play(f"C3\nsave {taken}\nsave {mine}\nB2\n", tmp_path / "games")
    assert f"cannot save to {taken}: " in said
    assert taken.read_text() == "precious"
    assert len(read_sgf(mine).to_game().moves) == 4


def test_a_game_in_a_file_of_your_own_is_not_resumed_from_an_old_copy(tmp_path: Path) -> None:
    folder, mine = tmp_path / "games", tmp_path / "mine.sgf"
    said = play(f"C3\nsave {mine}\nB2\n", folder)
    assert re.search(rf"to continue: \S+ -m gtp_engine play \S*{mine.name}", said)
    ran = run("", folder, "--resume")
    assert (ran.exit_code, ran.stderr) == (1, f"Error: no unfinished game in {folder}\n")
    play("C3\n", folder)
    play(f"save {tmp_path / 'other.sgf'}\nB2\n", folder, "--resume")
    assert list(folder.iterdir()) == []
    play(f"C3\nsave {folder / 'named.sgf'}\nB2\n", folder)
    play("D4\n", folder, "--resume")
    assert len(read_sgf(only_game(folder)).moves) == 6


def test_a_folder_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    blocked = folder_in_a_file(tmp_path)
    said = play("C3\nquit\nsave\nsave /nowhere/at.sgf\n" + f"save {tmp_path}/mine.sgf\nquit\n", blocked)
    assert said.count(f"cannot save to {blocked}: ") == 2
    assert "this game would be lost: type save FILE first; Ctrl-D leaves it" in said
    assert len(read_sgf(tmp_path / "mine.sgf").to_game().moves) == 2


def test_a_game_that_cannot_be_saved_stays_on_the_board(tmp_path: Path) -> None:
    play("D4\n", tmp_path)
    other = only_game(tmp_path)
    blocked = folder_in_a_file(tmp_path)
    said = play(f"C3\nnew\nload {other}\nsave {tmp_path}/mine.sgf\nnew\n", blocked)
    assert said.count("this game would be lost: type save FILE first") == 2
    assert read_sgf(tmp_path / "mine.sgf").to_game().moves[0].point == Game(5).point("C3")


def test_the_record_is_printed_where_it_can_be_saved_nowhere(tmp_path: Path) -> None:
    blocked = folder_in_a_file(tmp_path)
    said = play("C3\n", blocked, status=1)
    record = said[said.index("(;") :].encode()
    assert len(read_sgf(record).to_game().moves) == 2


def test_the_name_of_the_file_tells_board_and_opponent(tmp_path: Path) -> None:
    for options, label in {
        (): "5x5-engine",
        ("--rank", "12k"): "5x5-engine-12k",
        ("--colour", "both"): "5x5-two-players",
    }.items():
        play("C3\n", tmp_path / label, *options)
        assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d-\d{{6}}-{label}\.sgf", only_game(tmp_path / label).name)


def test_the_last_game_goes_on_in_its_file(tmp_path: Path) -> None:
    options = ("--rules", "japanese", "--komi", "1.5", "--rank", "12k", "--colour", "white", "--comments")
    first = play("C3\n", tmp_path, *options)
    path = only_game(tmp_path)
    before = read_sgf(path)
    assert re.search(rf"to continue: \S+ -m gtp_engine play \S*{path.name}", first)
    said = play("undo\nB2\n", tmp_path, "--resume")
    assert f"continuing {path}" not in said  # only for a person
    record = read_sgf(only_game(tmp_path))
    assert (record.komi, record.rules, record.black, record.white) == (1.5, "Japanese", "gtp_engine 12k", "human")
    assert (record.black_rank, record.white_rank) == ("12k", "")
    assert record.main_line[1].comment == before.main_line[1].comment != ""
    assert record.moves[0] == before.moves[0]
    assert [move.colour for move in record.moves] == [1, 2, 1]
    play("C2\n", tmp_path, "--resume", "--rank", "3k")
    assert read_sgf(only_game(tmp_path)).black_rank == "3k"


def test_nothing_is_saved_of_a_game_that_was_only_opened(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[5];B[cc];W[bb])")
    play("quit\n", tmp_path / "new", str(path))
    assert not (tmp_path / "new").exists()


def test_one_line_for_a_game_that_cannot_go_on(tmp_path: Path) -> None:
    finished, text = tmp_path / "finished.sgf", tmp_path / "text.sgf"
    finished.write_text("(;GM[1]SZ[9]RE[W+R];B[cc])")
    text.write_text("hello")
    for options, message in {
        (str(finished),): f"{finished}: the game is finished (W+R); to continue it after move N, 0 to 1, "
        "add --move N, or in a game type load FILE N; `gtp_engine review` finds the mistakes",
        (str(text),): f"{text}: no game record found",
        ("nowhere.sgf",): f"no saved game 'nowhere.sgf': no such file, and none in {tmp_path}",
        (str(finished), "--move", "1"): f"{finished}: the game is on 9x9, not on 5x5; leave out --board-size",
        (str(finished), "--move", "7"): f"{finished}: there is no move 7; the game has 1 move",
        ("--resume",): f"no unfinished game in {tmp_path}",
        ("--sgf-dir", str(text)): f"Invalid value for '--sgf-dir': Folder '{text}' is a file.",
        ("--move", "3"): "--move needs a saved game: name its FILE, or add --resume",
        ("--resume", str(finished)): "name a FILE or use --resume, not both",
        ("--resume", "--handicap", "2"): "--handicap is for new games: a saved game has its own handicap",
    }.items():
        ran = run("", tmp_path, *options)
        assert ran.exit_code in (1, 2)
        assert ran.stderr.splitlines()[-1] == f"Error: {message}"


def test_other_games_from_within_a_game(tmp_path: Path) -> None:
    play("C3\n", tmp_path, "--rank", "24k")
    old = only_game(tmp_path)
    lines = f"resume\nrank\nA1\nresume\nnew\nD4\nresume\nload\nload {old.name}\neasier\neasier\nrank max\n"
    said = play(lines, tmp_path)
    answers = (line for line in said.splitlines() if line.startswith("this is the "))
    assert [line.partition(";")[0] for line in answers] == [
        "this is the only unfinished game",
        "this is the latest unfinished game",
        "this is the lowest rank",
    ]
    assert f"  {old.name}" in said.splitlines()
    assert f"continuing {old} after 2 moves" in said
    assert f"continuing {old} after 4 moves" in said
    answers = [line for line in said.splitlines() if line.startswith("the engine plays ")]
    assert answers == [
        "the engine plays at 24k (ranks are 25k to 5d, and max is full strength)",
        "the engine plays at 25k",
        "the engine plays at 25k",
        "the engine plays at full strength",
    ]
    assert len(read_sgf(old).moves) == 4
    (other,) = (path for path in tmp_path.glob("*.sgf") if path != old)
    assert len(read_sgf(other).moves) == 2


def test_the_game_before_a_loaded_one_is_the_latest_until_that_is_saved(tmp_path: Path) -> None:
    record = tmp_path / "record.txt"
    record.write_text("(;GM[1]SZ[5];B[bb])")
    play("C3\nD4\n", tmp_path)
    old = only_game(tmp_path)
    for loaded in (record, old):
        said = play(f"C3\nload {loaded}\nresume\n", tmp_path)
        assert "unfinished game" not in said
        assert re.findall(r"^continuing (.*) after (\d) move", said, re.MULTILINE)[1][1] == "2"
    said = play(f"load {record}\nC3\nresume\n", tmp_path)
    assert "this is the latest unfinished game" in said
    said = play(f"load {old}\nresume\nresume\n", tmp_path)  # looking at a game does not make it the latest one
    assert said.count("this is the latest unfinished game") == 1


def test_a_loaded_game_says_that_its_network_is_another_one(tmp_path: Path) -> None:
    play("C3\n", tmp_path)
    game, other = only_game(tmp_path), tmp_path / "other.sgf"
    other.write_text(game.read_text().replace("PW[gtp_engine", "PW[gtp_engine b4c32-9x9"))
    said = play(f"load {game.name}\nload {other.name}\n", tmp_path).splitlines()
    assert [line for line in said if line.startswith("the engine plays with")] == [
        "the engine plays with rollouts now; this game was saved with b4c32-9x9"
    ]


def test_steps_begin_at_the_highest_rank_of_the_board(tmp_path: Path) -> None:
    reaching_4d = ("--network", "b4c32-9x9")
    said = play("easier\nharder\nrank Easier\nrank MAX\n", tmp_path, *reaching_4d)
    assert re.findall("the engine plays (at .+)", said) == ["at 4d", "at full strength", "at 4d", "at full strength"]


def test_a_game_that_is_loaded_tells_the_engines_limits(tmp_path: Path) -> None:
    play("C3\n", tmp_path, "--seconds", "7.5")
    name = only_game(tmp_path).name
    said = play(f"load {name}\n", tmp_path, "--visits", "3")
    assert "after 2 moves; the engine's limit is 7.5 s and 8 visits a move" in said
    assert "clocks" not in said
    path = tmp_path / name
    path.write_text(path.read_text().replace("GESEC[7.5]GEVIS[8]", "TM[600]OT[5x30 byo-yomi]"))
    said = play(f"load {name}\n", tmp_path, "--seconds", "2")
    assert "the engine's limit is 5 s a move; the clocks of the game stand still here" in said


def test_a_finished_game_is_loaded_at_a_move(tmp_path: Path) -> None:
    finished = tmp_path / "finished game.sgf"
    finished.write_text("(;GM[1]SZ[5]RU[AGA]KM[7]RE[B+R];B[cc];W[bb];B[dd])")
    said = play(f"load {finished}\nload {finished} 2\nload {finished} --move 1\n", tmp_path / "games")
    assert "type load FILE N" in said
    assert f"continuing {finished} after 2 moves; it will be saved as a new game" in said
    assert f"continuing {finished} after 1 move; it will be saved as a new game" in said

"""Records: replaying them, making them from games, and what they refuse."""

from pathlib import Path

import pytest
from move_names import points

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf

DATA = Path(__file__).resolve().parents[1] / "data" / "sgf"


def test_position_after_moves() -> None:
    record = read_sgf(b"(;SZ[9]KM[6.5]RU[Japanese];B[ee];W[cc];B[gg])")
    game = record.to_game(2)
    assert (len(game.moves), game.to_move, game.komi, game.rules) == (2, BLACK, 6.5, RULESETS["japanese"])
    assert len(record.to_game().moves) == len(record.to_game(99).moves) == 3
    assert record.to_game(0).stones().sum() == 0
    assert record.to_game(rules=RULESETS["aga"]).rules == RULESETS["aga"]


def test_player_to_move_is_the_one_who_moves_next() -> None:
    assert read_sgf(b"(;SZ[9];B[aa];B[bb];W[cc])").to_game(1).to_move == BLACK
    assert read_sgf(b"(;SZ[9];W[aa])").to_game(0).to_move == WHITE
    assert read_sgf(b"(;SZ[9]AB[aa]PL[W])").to_game().to_move == WHITE
    assert read_sgf(b"(;SZ[9]HA[2]AB[aa][bb])").to_game().to_move == WHITE


def test_the_player_to_move_next_may_be_named_with_a_move() -> None:
    assert read_sgf(b"(;SZ[9];B[aa]PL[W])").to_game().to_move == WHITE
    assert read_sgf(b"(;SZ[9];B[aa]PL[B])").to_game().to_move == BLACK
    game = read_sgf(b"(;SZ[9];B[aa]PL[W];W[bb]PL[B];B[]PL[W];W[]PL[B])").to_game()
    assert (game.is_over, game.history_start, len(game.moves)) == (True, 0, 4)
    game = read_sgf(b"(;SZ[9];AB[aa]PL[W]W[bb])").to_game()
    assert (game.moves, game.to_move) == ([(WHITE, game.point("B8"))], BLACK)


def test_handicap_stones() -> None:
    game = read_sgf(b"(;SZ[9]HA[2];AB[cg][gc];W[ee])").to_game()
    assert (game.handicap, len(game.moves)) == (2, 1)
    assert read_sgf(b"(;SZ[9]HA[5];W[ee];B[cc])").to_game().stones().sum() == WHITE + BLACK


def test_setup_after_moves() -> None:
    record = read_sgf(DATA / "setup_after_moves.sgf")
    before, after, end = record.to_game(1), record.to_game(2), record.to_game()
    assert [(game.stones() == BLACK).sum() for game in (before, after, end)] == [2, 5, 6]
    assert [(game.stones() == WHITE).sum() for game in (before, after, end)] == [2, 2, 2]
    assert after.to_move == BLACK
    assert end.moves == record.moves[-1:]


def test_prisoners_stay_when_stones_are_set_up_after_moves() -> None:
    moves = "(;SZ[7]RU[Japanese]KM[0];B[cc];W[aa];B[ba];W[ee];B[ab];W[]"
    for more in ("", ";AE[gg]", ";AE[gg];AE[gf]PL[W]"):
        game = read_sgf(f"{moves}{more})".encode()).to_game()
        assert (game.captures(BLACK), game.captures(WHITE), str(game.score())) == (1, 0, "B+1")
    game = read_sgf(f"{moves[:-4]};AB[gg]AW[gf];W[fg])".encode()).to_game()
    assert (game.captures(BLACK), game.captures(WHITE)) == (1, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"(;SZ[9];B[ee];W[ee])", "SGF data: move 2: illegal move: E5 is occupied"),
        (b"(;SZ[9]AW[ba][ab];B[aa])", "SGF data: move 1: illegal move: A9 is suicide"),
        (b"(;SZ[9]AW[ba][ab]AB[aa])", "SGF data: the start: cannot set up A9"),
        (b"(;SZ[9];B[ee];AW[ba][ab]AB[aa])", "SGF data: move 1: cannot set up A9"),
        (b"(;SZ[26];B[ee])", "SGF data: cannot play on a board of 26x26: expected 2 to 25 each way"),
    ],
)
def test_what_cannot_be_replayed(data: bytes, message: str) -> None:
    record = read_sgf(data)
    with pytest.raises(SgfError) as error:
        record.to_game()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(("width", "height"), [(9, 9), (13, 7), (25, 25)])
def test_record_of_a_game(width: int, height: int) -> None:
    game = Game(width, height, rules=RULESETS["new-zealand"], komi=-3.5)
    game.set_up(points("A1", 9), points("B2", 9), WHITE) if width == 9 else game.place_handicap([width + 2, width + 5])
    game.play(WHITE, 3 * (width + 1) + 4)
    game.play(BLACK, PASS)
    record = GameRecord.from_game(game, black="B", result="B+R", comments={0: "start", 2: "a pass"})
    again = read_sgf(record.to_sgf().encode())
    assert again.to_sgf() == record.to_sgf()
    assert (again.result, again.main_line[2].comment, again.application[:11]) == ("B+R", "a pass", "gtp_engine:")
    replayed = again.to_game()
    assert (replayed.stones() == game.stones()).all()
    assert (replayed.moves, replayed.to_move, replayed.komi) == (game.moves, game.to_move, game.komi)
    assert (replayed.rules, replayed.handicap) == (game.rules, game.handicap)


def test_moves_of_black_in_a_row_are_no_handicap_of_the_record() -> None:
    game = Game(9)
    for colour, point in ((BLACK, "D4"), (WHITE, "pass"), (BLACK, "E5")):
        game.play(colour, point)
    record = GameRecord.from_game(game)
    assert (game.handicap, record.handicap) == (2, 0)
    assert "HA[" not in record.to_sgf()
    assert record.to_game().handicap == 2
    game.set_up("D4", (), BLACK)
    game.play(BLACK, "E5")
    again = GameRecord.from_game(game).to_game()
    assert (again.moves, again.setup_stones, again.history_start) == (game.moves, game.setup_stones, 0)


def test_a_record_is_described_in_a_line_and_shown_as_its_last_position() -> None:
    record = read_sgf(b"(;SZ[9]PB[Go Seigen]BR[9d]RE[B+R];B[ee];W[cc])")
    assert repr(record) == "<GameRecord: Go Seigen (9d) - White, 9x9, 2 moves, B+R>"
    assert record._repr_svg_() == record.to_svg() == record.to_game().to_svg()
    assert record.to_svg(1, pixels=100) == record.to_game(1).to_svg(pixels=100)
    unplayable = read_sgf(b"(;SZ[9];B[ee];W[ee])")
    assert unplayable._repr_svg_() is None
    with pytest.raises(SgfError, match="move 2"):
        unplayable.to_svg()


def test_rules_of_a_replay_may_be_named() -> None:
    assert read_sgf(b"(;SZ[9];B[ee])").to_game(rules="japanese").rules == RULESETS["japanese"]


def test_a_record_without_end_is_not_replayed() -> None:
    data = b"(;SZ[9]" + b";B[];W[]" * 5001 + b")"
    record = read_sgf(data)
    assert len(record.moves) == 10_002
    with pytest.raises(SgfError, match="move 10001: illegal move: a game has at most 10,000 moves"):
        record.to_game()


@pytest.mark.parametrize("moves", ["1", -1, 0.5])
def test_a_number_of_moves_is_a_number(moves: object) -> None:
    with pytest.raises(ValueError, match="invalid number of moves"):
        read_sgf(b"(;SZ[9];B[ee])").to_game(moves)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", "9"),
        ("height", 0),
        ("komi", "abc"),
        ("handicap", 1.5),
        ("time_limit", "60"),
        ("result", 3),
        ("black", None),
    ],
)
def test_values_of_other_types_are_refused(name: str, value: object) -> None:
    with pytest.raises(UserError, match=f"invalid {name} {value!r}"):
        GameRecord(**{name: value})  # type: ignore[arg-type]
    if name not in ("width", "height"):
        with pytest.raises(UserError, match=f"invalid {name} {value!r}"):
            setattr(GameRecord(), name, value)


def test_a_record_has_no_other_fields() -> None:
    for name in ("event", "to_sgf"):
        with pytest.raises(TypeError, match=name):
            GameRecord(**{name: "x"})


def test_the_result_of_a_game_is_a_text() -> None:
    with pytest.raises(UserError, match="invalid result 3: expected text"):
        GameRecord.from_game(Game(5), result=3)  # type: ignore[arg-type]
    assert "RE[W+7]" in GameRecord.from_game(Game(5), result=str(Game(5).score())).to_sgf()

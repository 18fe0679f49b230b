"""Records: the tree with everything of a file, its lines and positions; replaying; making them; results, comments."""

import pickle
import random
import time
from pathlib import Path

import pytest
from move_names import points

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import GameRecord, GameResult, SgfError, TreeNode, analysis_comment, read_result, read_sgf

RECORD = b"""(;GM[1]FF[4]SZ[9]KM[5.5]PB[Ann]GN[A game]XX[kept];B[ee]C[first];W[cc]
(;B[gc]TR[ee];W[gg])
(;B[cg]LB[cg:A][ee:1]C[or here \\] so](;W[gg])(;W[ge]N[name])))"""


def tree() -> GameRecord:
    return read_sgf(RECORD)


def vertices(tree: GameRecord, nodes: list[TreeNode]) -> list[str]:
    game = Game(tree.width, tree.height)
    return [game.vertex(node.move.point) for node in nodes if node.move is not None]


def test_variations_and_unknown_properties_survive() -> None:
    first = tree()
    second = read_sgf(first.to_sgf().encode())
    for read in (first, second):
        assert sum(1 for _ in read) == 8
        assert read.root.properties["XX"] == [b"kept"] and read.root.properties["GN"] == [b"A game"]
        assert vertices(read, read.main_line) == ["E5", "C7", "G7", "G3"]
        other = read.main_line[2].children[1]
        assert other.comment == "or here ] so"
        assert [child.properties.get("N") for child in other.children] == [None, [b"name"]]
    assert first.to_sgf() == second.to_sgf()
    assert [node.properties for node in first][1:] == [node.properties for node in second][1:]


def test_names_with_digits_survive_as_they_are() -> None:
    read = read_sgf(b"(;SZ[9]LZ2[a\\]b];B[ee]LZOP2[B3[x\\]](;W[cc]x1[p][q])(;W[gg]X1[r]AddBlack[aa]))(;SZ[9])")
    assert vertices(read, read.main_line) == ["E5", "C7"] and not read.is_whole_file
    for again in (read, read_sgf(read.to_sgf().encode())):
        assert again.root.properties["LZ2"] == [b"a\\]b"]
        assert again.main_line[1].properties["LZOP2"] == [b"B3[x\\]"]
        assert again.main_line[2].properties["x1"] == [b"p", b"q"]
        assert again.main_line[1].children[1].properties == {"W": [b"gg"], "X1": [b"r"], "AB": [b"aa"]}


def test_positions_of_variations() -> None:
    read = tree()
    node = read.main_line[2].children[1]
    game = read.position(node)
    assert (game.stone_at("C3"), game.stone_at("G7"), game.to_move, game.komi) == (BLACK, EMPTY, WHITE, 5.5)


def test_a_variation_that_cannot_be_read_is_kept_and_refused_only_itself() -> None:
    read = read_sgf(b"(;SZ[9];B[ee](;W[cc];B[gg])(;W[zz]C[off the board];B[aa])(;AB[aa]AW[aa])(;W[ee]))")
    assert vertices(read, read.main_line) == ["E5", "C7", "G3"]
    _, bad, worse, illegal = read.main_line[1].children
    for node in (bad, bad.children[0], worse):
        with pytest.raises(SgfError, match=r"(after move 1|move [23]): "):
            read.position(node)
    with pytest.raises(SgfError, match="E5 is occupied"):
        read.position(illegal)
    assert bad.comment == "off the board" and b"zz" in bad.properties["W"]
    assert read_sgf(read.to_sgf().encode()).to_sgf() == read.to_sgf()


def test_many_variations_are_read_in_linear_time() -> None:
    count = 40_000
    started = time.process_time()
    read = read_sgf(b"(;SZ[9]" + b"(;B[aa])" * count + b")")
    assert len(read.root.children) == count
    assert time.process_time() - started < 20


def test_siblings_are_beside_each_other_at_the_same_depth() -> None:
    read = tree()
    second = read.beside(read.main_line[-1], 1)
    assert vertices(read, second.path) == ["E5", "C7", "C3", "G3"]
    read.follow(second)
    third = read.beside(second, 1)
    assert vertices(read, third.path)[-1] == "G5"
    assert read.beside(read.main_line[1], 1) is read.main_line[1]  # nothing branches before it
    # The line follows what was looked at.
    assert vertices(read, read.line(read.root)) == ["E5", "C7", "C3", "G3"]
    assert vertices(read, read.main_line) == ["E5", "C7", "G7", "G3"]


def test_a_position_is_led_to_by_a_move_or_set_up_stones_or_a_turn() -> None:
    line = read_sgf(b"(;GM[1]SZ[9];C[the start];B[ee];;C[said]MN[1];AB[aa];TR[aa];PL[W];)").main_line
    assert [line.index(node.first_with_position) for node in line] == [0, 0, 2, 2, 2, 5, 5, 7, 7]


def test_marks_of_files() -> None:
    read = read_sgf(b"(;SZ[9]TR[aa:ba]MA[zz]LB[cc:a\\:b][xx:1][ee:a\x01\x1bb])")
    game = Game(9)
    assert read.marks(read.root).shapes == {game.point("A9"): "triangle", game.point("B9"): "triangle"}
    assert read.marks(read.root).labels == {game.point("C7"): "a:b", game.point("E5"): "a??b"}


def test_positions_are_the_same_in_whatever_order_they_are_asked_for() -> None:
    data = (
        b"(;SZ[5]HA[2]AB[bb][dd];W[cc];B[bc];W[](;B[cb];W[dc]PL[W];W[cd];B[]C[x])"
        b"(;AE[cc]AB[ee]PL[B];B[ea];W[eb](;B[ec])(;W[];B[])))"
    )
    read, nodes = read_sgf(data), list(read_sgf(data))
    chooser = random.Random(1)
    for number in chooser.choices(range(len(nodes)), k=300):
        fresh = read_sgf(data)
        game, expected = read.position(read.node(number)), fresh.position(fresh.node(number))
        assert (
            game.board == expected.board
        ).all() and game.superko_history().tolist() == expected.superko_history().tolist()
        assert (game.moves, game.setup_stones, game.passes) == (expected.moves, expected.setup_stones, expected.passes)
    with pytest.raises(UserError, match="deleted"):
        read.node(len(nodes))


def test_a_copy_is_independent() -> None:
    read = tree()
    copy = read.copy()
    assert copy.to_sgf() == read.to_sgf()
    copy.root.comment, copy.black = "changed", "Bob"
    copy.add(copy.main_line[-1], {"N": [b"more"]})
    assert read.to_sgf() == tree().to_sgf() != copy.to_sgf()


def test_a_long_record_is_pickled() -> None:
    record = read_sgf(b"(;SZ[9]PB[Ann]" + b";B[];W[]" * 1000 + b"(;B[aa])(;B[bb]))")
    again = pickle.loads(pickle.dumps(record))
    assert (again.to_sgf(), again.source) == (record.to_sgf(), record.source)


DATA = Path(__file__).resolve().parents[1] / "data" / "sgf"


def test_position_after_moves() -> None:
    record = read_sgf(b"(;SZ[9]KM[6.5]RU[Japanese];B[ee];W[cc];B[gg])")
    game = record.to_game(2)
    assert (len(game.moves), game.to_move, game.komi, game.rules) == (2, BLACK, 6.5, RULESETS["japanese"])
    assert len(record.to_game().moves) == len(record.to_game(3).moves) == 3
    with pytest.raises(UserError, match="there is no move 4; the game has 3 moves"):
        record.to_game(4)
    assert record.to_game(0).stones().sum() == 0
    assert record.to_game(rules="aga").rules == record.to_game(rules=RULESETS["aga"]).rules == RULESETS["aga"]


def test_player_to_move_is_the_one_who_moves_next_or_is_named() -> None:
    assert read_sgf(b"(;SZ[9];B[aa];B[bb];W[cc])").to_game(1).to_move == BLACK
    assert read_sgf(b"(;SZ[9];W[aa])").to_game(0).to_move == WHITE
    assert read_sgf(b"(;SZ[9]AB[aa]PL[W])").to_game().to_move == WHITE
    assert read_sgf(b"(;SZ[9]HA[2]AB[aa][bb])").to_game().to_move == WHITE
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
        (b"(;SZ[9];B[ee];AW[ba][ab]AB[aa])", "SGF data: after move 1: cannot set up A9"),
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


def test_stones_set_up_during_a_game_leave_the_handicap_as_it_was() -> None:
    text = "(;SZ[9]RU[Chinese]KM[0.5]HA[4]AB[cc][gg][cg][gc];W[ee];B[ef];W[de];B[df]%s;W[fe];B[ff])"
    games = [read_sgf((text % change).encode()).to_game() for change in ("", ";AE[ee];AW[ee]")]
    assert (games[0].stones() == games[1].stones()).all()
    assert [(game.handicap, game.score().points) for game in games] == [(4, -0.5), (4, -0.5)]
    games[1].set_up("C3", "", BLACK)
    assert games[1].handicap == 0
    two_nodes = read_sgf(b"(;SZ[9]RU[Chinese]KM[0.5];AB[cc][gg];AB[cg];W[ee])").to_game()
    assert two_nodes.handicap == 3, "stones that are placed one after the other before anybody moves"
    with_pass = read_sgf(b"(;SZ[9]RU[Chinese]KM[0.5];AB[cc][gg];W[];AB[cg];W[ee])").to_game()
    assert with_pass.handicap == 3, "White's passes meanwhile are none of its moves"


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


def test_a_position_next_to_the_last_one_is_found_without_the_whole_line(monkeypatch: pytest.MonkeyPatch) -> None:
    record = read_sgf(b"(;SZ[9];B[aa];W[bb](;B[cc];W[dd])(;B[ee];W[ff]))")
    end, other = record.main_line[-1], record.main_line[2].children[1]
    record.position(end)
    monkeypatch.setattr(TreeNode, "path", property(lambda node: pytest.fail("the whole line was looked at")))
    assert len(record.position(record.main_line[2]).moves) == 2
    assert [record.position(node).moves[-1].point for node in (end, other, end)] == [
        node.move.point for node in (end, other, end) if node.move
    ]


def test_positions_stay_when_the_next_one_is_taken() -> None:
    record = read_sgf(b"(;SZ[9];B[cc];W[gg];B[ee])")
    positions = list(record.positions())
    assert [len(game.moves) for game in positions] == [0, 1, 2, 3]
    assert [game.stones().any(axis=1).sum() for game in positions] == [0, 1, 2, 3]
    positions[1].play("white", "A1")
    assert positions[2].stone_at("A1") == 0


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


def test_the_score_of_a_game_is_its_result() -> None:
    assert "RE[W+7]" in GameRecord.from_game(Game(5), result=str(Game(5).score())).to_sgf()


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("B+3.5", GameResult(BLACK, "points", "3.5")),
        ("W+1", GameResult(WHITE, "points", "1")),
        ("B+R", GameResult(BLACK, "resignation")),
        ("W+Resign", GameResult(WHITE, "resignation")),
        ("W+Time", GameResult(WHITE, "time")),
        ("w+t ", GameResult(WHITE, "time")),
        ("b + res", GameResult(BLACK, "resignation")),
        ("White+ 3,5", GameResult(WHITE, "points", "3.5")),
        ("B+F", GameResult(BLACK, "forfeit")),
        ("B+", GameResult(BLACK, "")),
        ("0", GameResult(None, "draw")),
        ("Draw", GameResult(None, "draw")),
        ("Void", GameResult(None, "void")),
    ],
)
def test_results_that_sgf_knows(text: str, result: GameResult) -> None:
    assert read_result(text) == result


@pytest.mark.parametrize("text", ["", "?", "W+Illegal", "B+1.", "B+.5", "B+1.2.3", "B+<b>", "C+2", "B+" + "9" * 400])
def test_other_results_are_not_guessed(text: str) -> None:
    assert read_result(text) is None


def test_comment_is_from_blacks_side() -> None:
    line = points("D4 E5")
    assert analysis_comment(WHITE, 0.25, -3.04, 800, line, 9, 9) == (
        "Black's win rate: 75.0%\nLead: B+3.0\nVisits: 800\nMain line: D4 E5"
    )
    assert analysis_comment(BLACK, 0.25, -3.04, 1, (), 9, 9) == "Black's win rate: 25.0%\nLead: W+3.0\nVisits: 1"


def test_a_player_who_moves_twice_stays_the_one_to_move() -> None:
    game = Game(9)
    game.play("black", "E5")
    game.to_move = BLACK
    assert read_sgf(GameRecord.from_game(game).to_sgf().encode()).to_game().to_move == BLACK


@pytest.mark.parametrize(
    ("black", "white", "to_move", "turn"),
    [
        ("D4", "E5", BLACK, [b"B"]),
        ("D4", "E5", WHITE, [b"W"]),
        ("D4", "", BLACK, [b"B"]),
        ("D4 F6", "", WHITE, None),  # a handicap
        ("", "", BLACK, None),
    ],
)
def test_a_position_says_whose_turn_it_is(black: str, white: str, to_move: int, turn: list[bytes] | None) -> None:
    game = Game(9)
    game.set_up(points(black), points(white), to_move)
    assert GameRecord.from_game(game).root.properties.get("PL") == turn

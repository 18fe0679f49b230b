"""A game as a Python programmer uses it: vertices, names of rules, wrong types, what is printed."""

import pickle

import numpy as np
import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.board import AREA_SCORING, TERRITORY_SCORING
from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_vertex, point_of_index
from gtp_engine.go.game import Game, IllegalMove, Move
from gtp_engine.go.rules import RULESETS, Rules, as_rules

E5 = parse_vertex("E5", 9, 9)


def test_vertices_and_words_are_as_good_as_numbers() -> None:
    game, other = Game(9), Game(9)
    for move in (("black", "e5"), ("W", "C3"), (BLACK, "pass"), (WHITE, "D4")):
        game.play(*move)
    for colour, name in ((BLACK, "E5"), (WHITE, "C3"), (BLACK, "pass"), (WHITE, "D4")):
        other.play(colour, PASS if name == "pass" else parse_vertex(name, 9, 9))
    assert game.moves == other.moves
    assert all(type(value) is int for move in game.moves for value in move)
    assert (game.point("E5"), game.vertex(E5), game.stone_at("E5"), game.stone_at(E5)) == (E5, "E5", BLACK, BLACK)
    assert game.is_legal("A1") and game.is_legal("A1", "white") and not game.is_legal("E5", "black")
    assert (game.legal_moves("white") == game.legal_moves(WHITE)).all()
    assert [game.vertex(move) for move in game.moves] == ["E5", "C3", "pass", "D4"]
    assert repr(game.moves[1:3]) == f"[<Move: white, point {parse_vertex('C3', 9, 9)}>, <Move: black, pass>]"
    assert repr(Move("black", "D4")) == "<Move: 'black', point D4>"  # type: ignore[arg-type]
    assert game.captures("black") == 0
    game.to_move = "white"
    assert game.to_move == WHITE


def test_a_chain_has_stones_and_liberties() -> None:
    game = Game(9)
    game.set_up("A1 B1", "C1")
    chain = game.chain("A1")
    assert chain is not None and chain == game.chain("B1") and chain.colour == BLACK
    assert {game.vertex(point) for point in chain.stones} == {"A1", "B1"}
    assert {game.vertex(point) for point in chain.liberties} == {"A2", "B2"}
    assert game.chain("E5") is None and game.chain("pass") is None
    with pytest.raises(UserError, match="invalid vertex 'K1'"):
        game.chain("K1")


def test_a_position_is_set_up_from_lists_or_texts() -> None:
    game, other = Game(9), Game(9)
    game.set_up("A1 b2", [E5, "D4"], "white")
    other.set_up([parse_vertex("A1", 9, 9), parse_vertex("B2", 9, 9)], [E5, parse_vertex("D4", 9, 9)], WHITE)
    assert (game.stones() == other.stones()).all() and game.to_move == WHITE
    game.clear()
    game.place_handicap("C3 G7")
    assert game.handicap == 2
    assert game.points("C3 g7") == game.points(["C3", game.point("G7")]) == [game.point("C3"), game.point("G7")]


def test_points_off_the_board_are_errors_that_change_nothing() -> None:
    game = Game(9)
    for point in ("K1", "A10", "i5", "", -1, 0.5, None, "E5 D4", True):
        with pytest.raises(UserError):
            game.play("black", point)  # type: ignore[arg-type]
    for point in (1, 10, 5000, -7):
        with pytest.raises(IllegalMove, match=f"illegal move: point {point} is not on the board"):
            game.play("black", point)
        with pytest.raises(UserError, match=f"invalid point {point}"):
            game.vertex(point)
        with pytest.raises(UserError, match=f"invalid point {point}"):
            game.stone_at(point)
        with pytest.raises(UserError, match=f"invalid point {point}"):
            game.set_up([point], [])
        assert not game.is_legal(point)
    with pytest.raises(UserError, match="invalid point 'pass': expected a point of the board, not a pass"):
        game.stone_at("pass")
    with pytest.raises(UserError, match="cannot set up pass: not an empty point of the board"):
        game.set_up("E5 pass", [])
    with pytest.raises(UserError, match="invalid points 5"):
        game.set_up(5, [])  # type: ignore[arg-type]
    assert (game.moves, game.setup_stones) == ([], [])


@pytest.mark.parametrize("options", [
    {"width": "9"}, {"width": 9.0}, {"width": None}, {"height": "9"}, {"rules": "go"}, {"rules": None}, {"rules": 1},
    {"komi": "7"}, {"komi": float("inf")}, {"komi": True},
])  # fmt: skip
def test_games_of_other_types_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UserError):
        Game(**options)  # type: ignore[arg-type]


def test_rules_and_komi_are_checked_when_they_change() -> None:
    game = Game(9)
    game.set_rules("japanese")
    assert game.rules == as_rules("Japanese") == as_rules(RULESETS["japanese"]) == RULESETS["japanese"]
    for wrong in ("go", None, RULESETS):
        with pytest.raises(UserError, match="rules"):
            game.set_rules(wrong)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="invalid komi 'x'"):
        game.set_komi("x")  # type: ignore[arg-type]
    assert (game.rules, game.komi) == (RULESETS["japanese"], 7)


def test_a_change_of_a_copy_after_an_undo_leaves_the_game_as_it_is() -> None:
    game = Game(9)
    game.play("black", "D4")
    game.play("white", "E5")
    copy = game.copy()
    game.undo()
    copy.set_komi(100)
    copy.set_rules("japanese")
    copy.undo()
    board, other = game.board[0], copy.board[0]
    assert (game.komi, board["komi"], board["scoring"]) == (7, 7, AREA_SCORING)
    assert (copy.komi, other["komi"], other["scoring"]) == (100, 100, TERRITORY_SCORING)
    copy.undo()
    game.undo()
    assert (game.board["komi"][0], copy.board["komi"][0]) == (7, 100)


def test_the_komi_is_the_usual_one_of_the_size() -> None:
    assert [Game(*size).komi for size in ((5,), (9,), (9, 10), (13, 9), (19,))] == [7, 7, 7.5, 7.5, 7.5]
    assert Game(9, komi=7.5).komi == 7.5


def test_a_game_is_printed_as_a_board_and_described_in_a_line() -> None:
    game = Game(9, rules=Rules("POSITIONAL", tax="SEKI"))
    game.play("black", "E5")
    assert repr(game) == "<Game 9x9, 1 move, W to move, other rules, komi 7>"
    assert "(X)" in str(game)
    assert game._repr_svg_() == game.to_svg()
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


def test_a_finished_game_is_counted() -> None:
    game = Game(5, rules="tromp-taylor", komi=1.5)
    for black, white in zip(["C1", "C2", "C3", "C4", "C5"], ["D1", "D2", "D3", "D4", "D5"], strict=True):
        game.play("black", black)
        game.play("white", white)
    game.play("black", "E3")
    assert str(game.score()) == "B+9.5"  # White's row and Black's stone leave E1, E2, E4 and E5 to nobody: 16 to 5
    assert (game.score("E3").points, game.score(["E3"]).winner) == (3.5, BLACK)
    with pytest.raises(UserError, match="invalid vertex 'F1'"):
        game.score("F1")


def test_a_misspelt_part_of_a_drawing_is_named() -> None:
    with pytest.raises(TypeError, match=r"to_svg\(\) got an unexpected .* 'label': did you mean 'labels'"):
        Game(9).to_svg(label={})  # type: ignore[call-arg]


def test_a_pickled_game_is_whole_and_small() -> None:
    game = Game(9, rules="aga", komi=0.5)
    game.set_up("A1 B2", "C3", "white")
    for number in range(36):
        game.play("black" if number % 7 == 0 else game.to_move, point_of_index(20 + number, 9, 9))
    game.play(game.to_move, "pass")
    game.set_rules("japanese")
    data = pickle.dumps(game)
    assert len(data) < sum(board.nbytes for board in game._boards) / 20
    again = pickle.loads(data)
    assert all(map(np.array_equal, again._boards, game._boards))
    again.undo()
    again.play("black", "pass")
    assert again.status_line() != game.status_line()
    game.undo()
    game.play("black", "pass")
    assert again.status_line() == game.status_line() and (again.board == game.board).all()

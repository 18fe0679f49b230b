"""The final count under each ruleset, dead stones, and the score as text."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import drawn_positions
import numpy as np
import pytest
from cases import some
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_board import BLACK, EMPTY, WHITE, ReferenceBoard
from reference_life import plain_area

from gtp_engine.go.coords import PASS, parse_vertex, point_at, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.life import area_map, dead_stones
from gtp_engine.go.rules import RULESETS, Rules
from gtp_engine.go.scoring import Score, area_margin

Spot = tuple[int, int]

TROMP_TAYLOR, JAPANESE = RULESETS["tromp-taylor"], RULESETS["japanese"]


def drawn(diagram: str, rules: Rules = TROMP_TAYLOR, komi: float = 0.0) -> Game:
    return drawn_positions.drawn(diagram, rules=rules, komi=komi)[0]


def counted(game: Game) -> float:
    return game.score().points


def points(game: Game, names: str) -> set[int]:
    return {parse_vertex(name, game.width, game.height) for name in names.split()}


@pytest.mark.parametrize(
    ("margin", "text"),
    [
        (3.5, "B+3.5"),
        (-12.0, "W+12"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.5, "B+0.5"),
        (-361.25, "W+361.250"),  # W+361.25 would be zi
        (0.75, "B+0.750"),
        (0.125, "B+0.125"),
        (100.0, "B+100"),
        (-1000000.5, "W+1000000.5"),  # SGF has no exponents
        (3 - 7.1, "W+4.1"),
    ],
)
def test_score_as_text(margin: float, text: str) -> None:
    assert str(Score(margin)) == text


# Black has 11 points of area, 6 of them empty, white 9 and 4.
BORDER = """
    . . X O .
    . . X O .
    . X X O .
    . X O O ."""


def test_area_counts_stones_and_what_they_enclose() -> None:
    assert counted(drawn(BORDER)) == 11 - 9
    assert counted(drawn(BORDER, komi=7.5)) == 11 - 9 - 7.5
    assert counted(drawn(BORDER, komi=-3)) == 11 - 9 + 3


def test_neutral_points_count_for_nobody() -> None:
    game = drawn(
        """
        . X . O .
        . X . O .
        . X . O .""",
        komi=0.5,
    )
    assert game.score().points == -0.5
    assert area_map(game).tolist() == [[1, 1, 0, 2, 2]] * 3


def test_the_empty_board_is_nobodys() -> None:
    assert counted(Game(9, komi=7)) == -7


def test_dead_stones_come_off_the_board() -> None:
    game = drawn("""
        . O . X O .
        . . . X O .
        X X X X O .""")
    assert game.score().points == 6 - 7
    dead = points(game, "B3")
    assert game.score(dead).points == 12 - 6
    assert area_map(game, dead)[0].tolist() == [1, 1, 1, 1, 2, 2]
    assert game.stones()[0, 1] == WHITE


def test_territory_counts_empty_points_and_prisoners() -> None:
    game = drawn(BORDER, JAPANESE, komi=6.5)
    assert game.score().points == 6 - 4 - 6.5
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    assert game.score().points == 6 - 4 - 6.5


def test_a_dead_stone_is_two_points_of_territory() -> None:
    game = drawn(
        """
        . O . X O .
        . . . X O .
        X X X X O .""",
        JAPANESE,
    )
    assert game.score(points(game, "B3")).points == 6 + 1 - 3


@pytest.mark.parametrize(
    ("rules", "komi", "dead", "text"),
    [
        ("chinese", 6.5, "", "Black 6, White 7 + 6.5"),
        ("chinese", 0.0, "B3", "Black 12, White 6"),
        ("japanese", -3.0, "B3", "Black 7, White 3 - 3"),  # the dead stone and its point are one each
    ],
)
def test_both_sums_of_a_count(rules: str, komi: float, dead: str, text: str) -> None:
    game = drawn(
        """
        . O . X O .
        . . . X O .
        X X X X O .""",
        RULESETS[rules],
        komi,
    )
    count = game.count(points(game, dead))
    assert str(count) == text
    assert count.score == game.score(points(game, dead))


def test_prisoners_taken_in_the_game_count() -> None:
    game = drawn(
        """
        . X X O .
        X . X O .
        O X X O .
        . O O O .""",
        JAPANESE,
    )
    game.play(BLACK, parse_vertex("B3", 5, 4))
    before = game.score().points
    game.undo()
    assert game.captures(BLACK) == 0
    assert before == game.score().points - 1


SEKI = """
    . X . O . O X
    X X O O O O X
    O O X X X X X
    . O X . . . .
    . O X . . . ."""


def test_seki_has_no_territory_under_a_tax() -> None:
    """Both corner chains hold one eye and share a liberty; neither can play it."""
    assert counted(drawn(SEKI, replace(JAPANESE, tax="NONE"))) == (1 + 8) - (1 + 2)
    assert counted(drawn(SEKI, JAPANESE)) == 8 - 2
    assert counted(drawn(SEKI, TROMP_TAYLOR)) == 21 - 13
    assert counted(drawn(SEKI, replace(TROMP_TAYLOR, tax="SEKI"))) == 20 - 12


def test_neutral_points_left_over_make_no_seki() -> None:
    game = drawn(
        """
        . X . O .
        . X . O .
        . X X O .
        . X X O .""",
        JAPANESE,
    )
    assert game.score().points == 0


# The black stone on E4 will have to be connected on E3 once somebody has played the neutral point E5.
CONNECTION = """
    . O O O .
    O O O O X
    O O X X .
    X X X X X
    . X . X ."""


def test_a_point_that_has_to_be_filled_is_nobodys() -> None:
    rules = replace(JAPANESE, tax="NONE")
    game = drawn(CONNECTION, rules)
    assert game.score().points == 3 - 1
    assert area_map(game)[2].tolist() == [2, 2, 1, 1, 0]
    assert counted(drawn(CONNECTION)) == 14 - 10  # by area a stone there costs nothing
    # Somebody has played the neutral point: the same count.
    assert counted(drawn(CONNECTION.replace("O O O .", "O O O O", 1), rules)) == 3 - 1
    # The point has been filled.
    assert counted(drawn(CONNECTION.replace("X X .", "X X X", 1), rules)) == 3 - 1


# Black's only eye, a wall around it and two neutral points, or three. The dead stones are prisoners in any case.
EYES = [
    (". . . X . O / X X X X . O", "", 3),
    (". O . X . O / X X X X . O", "B2", 0),
    (". . X . O / . . X . O / X X X . O", "", 0),
    (". . . X . O / . . . X . O / X X X X . O", "", 6),
    ("O O . . X . O / X X X X X . O", "A2 B2", 4),
    (". O O O . X . O / X X X X X X . O", "B2 C2 D2", 0),
    (". O O O O . X . O / X X X X X X X . O", "B2 C2 D2 E2", 6),
]
# The last stone of the wall will have to be connected, and the opponent may play there before.
LOOSE_EYES = [
    (". . . . X . O / X X X X O O O", "", 0),
    (". . . . . X . O / X X X X X O O O", "", 4),
    (". . . . O X . O / X X X X X O O O", "E2", 0),
    (". . . . . O X . O / X X X X X X O O O", "F2", 4),
]


@pytest.mark.parametrize(("drawing", "dead", "territory"), EYES + LOOSE_EYES)
def test_a_group_at_neutral_points_has_territory_if_it_can_make_two_eyes(
    drawing: str, dead: str, territory: int
) -> None:
    game = drawn(drawing.replace(" / ", "\n"), JAPANESE)
    assert game.count(points(game, dead)).black == territory + len(dead.split())


def test_an_eye_is_not_to_be_filled() -> None:
    game = drawn(
        """
        . X . O .
        X X . O O
        . . . O .""",
        replace(JAPANESE, tax="NONE"),
    )
    assert game.score().points == 1 - 2


def random_positions(
    seed: int, count: int, sides: tuple[int, int], moves: tuple[int, int]
) -> Iterator[tuple[Game, ReferenceBoard]]:
    """Yields positions after random moves, on random boards; both ranges are without their ends."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        width, height = (int(side) for side in generator.integers(*sides, 2))
        reference = ReferenceBoard(width, height, "SIMPLE", suicide=False)
        for _ in range(int(generator.integers(*moves))):
            legal = [p for p in reference.points() if reference.simple_illegality(p, reference.to_move) is None]
            reference.play(legal[generator.integers(len(legal))] if legal else None, reference.to_move)
        game = Game(width, height, rules=TROMP_TAYLOR, komi=0)
        by_colour = {c: [point_at(*p, width) for p, q in reference.stones.items() if q == c] for c in (BLACK, WHITE)}
        game.set_up(by_colour[BLACK], by_colour[WHITE])
        yield game, reference


def flood(start: Spot, inside: Callable[[Spot], bool], reference: ReferenceBoard) -> set[Spot]:
    found = {start}
    border = [start]
    while border:
        for near in reference.neighbours[border.pop()]:
            if near not in found and inside(near):
                found.add(near)
                border.append(near)
    return found


def territory_by_play(reference: ReferenceBoard) -> dict[Spot, int]:
    """The owners of the empty points, by the definition: chains that hang together by neutral points and have one
    liberty in their own territory play there, until there are none."""
    owners = plain_area(reference)
    territory = {point: owners.get(point, EMPTY) for point in reference.points() if not reference.colour(point)}
    stones = dict(reference.stones)
    for colour in (BLACK, WHITE):
        while True:

            def hangs(point: Spot, colour: int = colour) -> bool:
                return stones.get(point) == colour or (not stones.get(point) and territory[point] == EMPTY)

            forced = None
            for point in reference.points():
                if stones.get(point) != colour:
                    continue
                group = {spot for spot in flood(point, hangs, reference) if stones.get(spot) == colour}
                liberties = {
                    near
                    for spot in group
                    for near in reference.neighbours[spot]
                    if not stones.get(near) and territory[near] == colour
                }
                if len(liberties) == 1 and any(set(reference.neighbours[spot]) - group for spot in liberties):
                    forced = liberties.pop()
                    break
            if forced is None:
                break
            stones[forced], territory[forced] = colour, EMPTY
    return territory


def test_random_positions_are_filled_as_defined() -> None:
    filled = 0
    for game, reference in random_positions(11, 150, (3, 8), (15, 90)):
        by_area = area_map(game)
        game.set_rules(replace(JAPANESE, tax="NONE"))
        owners, territory = area_map(game), territory_by_play(reference)
        assert {(x, y): owners[y, x] for x, y in territory} == territory, reference.diagram()
        filled += int(np.count_nonzero(owners != by_area))
    assert filled > 20


def test_group_tax_takes_two_points_a_group() -> None:
    stone_scoring = RULESETS["stone-scoring"]
    game = drawn(
        """
        . X X O . O
        X . X O O O
        X X X O . O""",
        stone_scoring,
    )
    assert game.score().points == (9 - 2) - (9 - 2)
    two_groups = """
        . . X O X . .
        X X X O X X X
        O O O O O O O
        O . O . O . O"""
    assert counted(drawn(two_groups)) == 12 - 16
    assert counted(drawn(two_groups, stone_scoring)) == (12 - 4) - (16 - 2)
    assert counted(drawn(two_groups, RULESETS["ancient-territory"])) == (4 - 4) - (3 - 2)


def test_groups_in_atari_have_no_territory_and_pay_no_tax() -> None:
    two_groups = """
        . X O X .
        X X O X X
        X X O X X
        O O O O O
        O . O . O"""
    assert counted(drawn(two_groups)) == 12 - 13
    assert counted(drawn(two_groups, RULESETS["stone-scoring"])) == 10 - (13 - 2)


# KataGo's counts of random positions (BoardHistory::endAndScoreGameNow at its commit 6a1fc5de, Black's margin): for
# each tax, with and without suicide of several stones. Dead in them are the stones inside pass-alive territory.
RANDOM_COUNTS = Path(__file__).parents[1] / "data" / "katago_counts.jsonl"
TAXES = ("NONE", "SEKI", "ALL")


@pytest.mark.parametrize("suicide", [False, True])
def test_random_positions_are_counted_as_by_katago(suicide: bool) -> None:
    for line in RANDOM_COUNTS.read_text().splitlines():
        position = json.loads(line)
        diagram = "\n".join(" ".join(row) for row in position["stones"].split("/"))
        counts = position["with_suicide" if suicide else "without_suicide"]
        for tax, count in zip(TAXES, counts, strict=True):
            game = drawn(diagram, replace(TROMP_TAYLOR, tax=tax, suicide=suicide))
            proven_only = dead_stones(game, np.select([game.stones() == BLACK, game.stones() == WHITE], [1.0, -1.0]))
            assert game.score(proven_only).points == count, (position, tax)


def test_handicap_is_compensated_as_the_rules_say() -> None:
    for name, bonus in [("chinese", 3), ("aga", 2), ("japanese", 0), ("new-zealand", 0)]:
        game = Game(9, rules=RULESETS[name], komi=0.5)
        game.place_handicap(points(game, "C3 G7 G3"))
        area = 81 if game.rules.scoring == "AREA" else 78
        assert game.score().points == area - bonus - 0.5, name


@pytest.mark.parametrize(
    ("moves", "handicap"),
    [
        ("B C3 B G7 W E5 B D4", 2),
        ("B C3 W pass B G7 W E5", 2),
        ("B C3 W E5 B G7", 0),
        ("B C3 B G7 W E5 W D4", 0),  # a position that is set up by moves, as GUIs and servers do
        ("B C3 B G7 W pass W E5", 0),
    ],
)
def test_first_moves_of_black_are_handicap_unless_white_plays_twice_in_a_row(moves: str, handicap: int) -> None:
    game = Game(9)
    for colour, name in zip(moves.split()[::2], moves.split()[1::2], strict=True):
        game.play(colour, name)
    assert game.handicap == handicap


def test_stones_of_a_handicap_are_none_if_white_plays_twice_in_a_row() -> None:
    game = Game(9)
    game.place_handicap(points(game, "C3 G7 G3"))
    game.play(WHITE, "E5")
    assert game.handicap == 3
    game.play(WHITE, "D4")
    assert (game.handicap, game.handicap_bonus) == (0, 0)


@pytest.mark.parametrize(("first", "bonus"), [(BLACK, 0.5), (WHITE, -0.5)])
def test_the_button_is_half_a_point_for_the_first_to_pass(first: int, bonus: float) -> None:
    game = drawn(BORDER, RULESETS["aga-button"], komi=7)
    game.to_move = first
    game.play(first, PASS)
    game.play(3 - first, PASS)
    assert game.score().points == 11 - 9 - 7 + bonus


def test_dead_stones_follow_ownership_and_proofs() -> None:
    game = drawn("""
        . X . X O . .
        X X X X O O .
        O O O O . . X
        . . . . X . .""")
    ownership = np.full((4, 7), -0.9)
    dead = dead_stones(game, ownership)
    # The corner chain has two eyes, whatever the ownership is.
    assert dead == points(game, "G2 E1")
    ownership[0, 0] = 1
    assert dead_stones(game, -ownership) == points(game, "A2 B2 C2 D2 E3 F3 E4")


def test_random_positions_count_as_tromp_and_taylor_say() -> None:
    for game, reference in random_positions(5, 60, (2, 8), (0, 60)):
        owners = plain_area(reference)
        expected = [[owners.get((x, y), 0) for x in range(game.width)] for y in range(game.height)]
        assert area_map(game).tolist() == expected, reference.diagram()
        counts = [list(owners.values()).count(colour) for colour in (BLACK, WHITE)]
        assert game.score().points == area_margin(game.board[0]) == counts[0] - counts[1]


@settings(max_examples=some(60), deadline=None)
@given(
    width=st.integers(2, 9),
    height=st.integers(2, 9),
    rules=st.sampled_from(["tromp-taylor", "chinese", "aga", "aga-button"]),
    komi=st.sampled_from([0.0, 0.5, 7.0, -3.5]),
    choices=st.lists(st.integers(0, 10_000), max_size=120),
)
def test_the_compiled_count_is_the_same(width: int, height: int, rules: str, komi: float, choices: list[int]) -> None:
    game = Game(width, height, rules=RULESETS[rules], komi=komi)
    for choice in choices:
        legal = game.legal_moves().nonzero()[0]
        game.play(game.to_move, point_of_index(int(legal[choice % len(legal)]), width, height))
    game.play(game.to_move, PASS)
    assert area_margin(game.board[0]) == counted(game)


def test_no_lead_is_larger_than_the_board() -> None:
    assert Game(9, komi=7).possible_leads == (-88, 74)
    moves = "C3 A1 D3 E5 E4 pass D5"  # which captures E5
    assert drawn_positions.played(moves, 5, komi=0.5).possible_leads == (-25.5, 24.5)
    japanese = drawn_positions.played(moves, 5, rules="japanese", komi=0.5)
    assert japanese.captures("black") == 1 and japanese.possible_leads == (-27.5, 22.5), "two stones more"

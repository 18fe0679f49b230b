"""Networks' inputs: against KataGo's own, against their definition, and along a line of moves."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import some
from golden_records import Record, own_records, position_of, records
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_board import Point
from reference_inputs import ReferenceHistory

from gtp_engine.go import board as boards
from gtp_engine.go.coords import BLACK, PASS, WHITE, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS, Rules
from gtp_engine.go.symmetry import apply
from gtp_engine.nets.constants import PLANES, SCALARS
from gtp_engine.search.evaluate import features

WORKSPACE = features.new_workspace()
OTHER_RULES = [
    replace(RULESETS["japanese"], ko="SITUATIONAL", suicide=True, tax="ALL"),
    replace(RULESETS["japanese"], tax="NONE", friendly_pass_ok=True),
    replace(RULESETS["tromp-taylor"], tax="SEKI", has_button=True),
]
ALL_RULES = [*{str(rules): rules for rules in [*RULESETS.values(), *OTHER_RULES]}.values()]


def write(
    position: np.ndarray, *, symmetry: int = 0, suicide_legal: bool = False, size: tuple[int, int] | None = None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Planes [22, height, width], scalars and key of a position; the arrays were full of something else before."""
    width, height = size or (int(position["width"][0]), int(position["height"][0]))
    planes = np.full((height, width, PLANES), 99, np.uint8)
    scalars = np.full(SCALARS, 99, np.float32)
    key = features.write_inputs(position[0], symmetry, suicide_legal, WORKSPACE, planes, scalars)
    return planes.transpose(2, 0, 1), scalars, int(key)


def of_game(game: Game) -> tuple[np.ndarray, np.ndarray, int]:
    return write(features.position_of(game, WORKSPACE))


def compare_with_record(record: Record) -> None:
    planes, scalars, _ = of_game(position_of(record))
    expected = np.zeros_like(planes)
    expected[0] = 1
    for plane, ones in record["inputs"]["planes"].items():
        expected[int(plane)].flat[ones] = 1
    wrong = [plane for plane in range(PLANES) if (planes[plane] != expected[plane]).any()]
    assert wrong == [], record["id"]
    assert scalars == pytest.approx(record["inputs"]["global"], abs=1e-5), record["id"]


@pytest.mark.parametrize("record", own_records(), ids=lambda record: record["id"])
def test_inputs_are_katagos(record: Record) -> None:
    compare_with_record(record)


def test_all_recorded_inputs(shared: Path) -> None:
    count = 0
    for record in records(shared):
        compare_with_record(record)
        count += 1
    assert count >= 150


class Pair:
    """The same game twice."""

    def __init__(self, width: int, height: int, rules: Rules, komi: float) -> None:
        self.game = Game(width, height, rules=rules, komi=komi)
        self.reference = ReferenceHistory(width, height, rules)

    def play_any(self, choice: int) -> None:
        """A random legal move; one in 8 a pass, one in 32 out of turn."""
        board = self.reference.board
        colour = 3 - board.to_move if choice % 32 == 1 else board.to_move
        legal = np.flatnonzero(self.game.legal_moves(colour)[:-1])
        at: Point | None = None
        if choice % 8 and len(legal):
            index = int(legal[choice // 32 % len(legal)])
            at = (index % board.width, index // board.width)
        self.game.play(colour, PASS if at is None else point_at(*at, board.width))
        self.reference.play(at, colour)

    def compare(self, suicide_legal: bool) -> None:
        game = self.game
        planes, scalars, _ = write(features.position_of(game, WORKSPACE), suicide_legal=suicide_legal)
        found = {p: {(int(x), int(y)) for y, x in zip(*np.nonzero(planes[p]), strict=True)} for p in range(22)}
        about = f"{game.rules} {game.moves}\n{self.reference.board.diagram()}"
        assert {p: points for p, points in found.items() if points} == self.reference.planes(suicide_legal), about
        assert scalars == pytest.approx(self.reference.scalars(game.komi + game.handicap_bonus), abs=1e-5), about


def compare_random_game(pair: Pair, choices: list[int]) -> None:
    for number, choice in enumerate(choices):
        pair.play_any(choice)
        if choice % 5 == 0 or number == len(choices) - 1:
            pair.compare(suicide_legal=choice % 2 == 0)


choices = st.lists(st.integers(0, 2**20), min_size=1, max_size=60)


@settings(max_examples=some(60), deadline=None)
@given(st.integers(2, 6), st.integers(2, 6), st.sampled_from(ALL_RULES), st.integers(-30, 30), choices)
def test_inputs_are_as_defined(width: int, height: int, rules: Rules, half_komi: int, moves: list[int]) -> None:
    compare_random_game(Pair(width, height, rules, half_komi / 2), moves)


@pytest.mark.slow
def test_many_random_games() -> None:
    generator = random.Random(3)
    for _ in range(some(400)):
        rules = generator.choice(ALL_RULES)
        pair = Pair(generator.randint(2, 9), generator.randint(2, 9), rules, generator.randint(-400, 400) / 4)
        compare_random_game(pair, [generator.randrange(2**20) for _ in range(generator.randrange(1, 150))])


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "japanese"])
def test_marks_handed_down_equal_marks_read_afresh(rules: str) -> None:
    """As a search does it: a leaf's marks of before are those that its parent and grandparent were given."""
    generator = np.random.default_rng(4)
    game = Game(7, 7, rules=RULESETS[rules])
    start = features.position_of(game, WORKSPACE)
    of_game(game)
    line = game.board.copy()  # played on: never marked
    now = before = start["ladders"][0] * 0
    points = [point_at(x, y, 7) for y in range(7) for x in range(7)]
    for _ in range(150):
        leaf = line.copy()
        history = game.superko_history()
        boards.mark_superko(leaf[0], history, len(history))
        leaf["ladders"][0] = now * boards.CAUGHT_BEFORE | before * boards.CAUGHT_TWO_BEFORE
        planes, scalars, key = write(leaf)
        caught = WORKSPACE.caught[:49].copy()
        fresh_planes, fresh_scalars, fresh_key = of_game(game)
        assert (planes == fresh_planes).all()
        assert (scalars == fresh_scalars).all()
        assert key == fresh_key
        now, before = now * 0, now
        now[points] = caught
        move = int(generator.choice(np.flatnonzero(game.legal_moves())))
        point = PASS if move == game.area else point_at(move % 7, move // 7, 7)
        game.play(game.to_move, point)
        boards.play(line[0], point)


def some_game() -> Game:
    """Seven by five points, some moves, a ko to be retaken."""
    game = Game(7, 5, rules=RULESETS["tromp-taylor"])
    for x, y in [(1, 0), (2, 0), (0, 1), (3, 1), (1, 2), (2, 2), (5, 4), (1, 1), (2, 1)]:
        game.play(game.to_move, point_at(x, y, 7))
    return game


def test_a_board_smaller_than_the_planes_lies_top_left() -> None:
    position = features.position_of(some_game(), WORKSPACE)
    planes, scalars, key = write(position)
    padded, padded_scalars, padded_key = write(position, size=(9, 6))
    assert (padded[:, :5, :7] == planes).all()
    assert padded.sum() == planes.sum()
    assert (padded_scalars == scalars).all()
    assert padded_key == key


@pytest.mark.parametrize("symmetry", range(8))
def test_symmetries_turn_the_planes_and_not_the_key(symmetry: int) -> None:
    position = features.position_of(some_game(), WORKSPACE)
    planes, scalars, key = write(position, size=(9, 9))
    turned, turned_scalars, turned_key = write(position, size=(9, 9), symmetry=symmetry)
    assert (turned == apply(planes, symmetry)).all()
    assert (turned_scalars == scalars).all()
    assert turned_key == key
    rectangular = write(position, symmetry=symmetry)[0]
    assert (rectangular == apply(write(position)[0], symmetry & 3)).all()


def test_a_batch_holds_the_positions_asked_for() -> None:
    game = some_game()
    positions = []
    while game.moves:
        positions.append(features.position_of(game, WORKSPACE))
        game.undo()
    indices, symmetries = np.array([4, 0, 2, 2]), np.array([0, 3, 1, 0])
    planes = np.full((4, 5, 7, PLANES), 9, np.uint8)
    scalars = np.full((4, SCALARS), 9, np.float32)
    keys = np.zeros(4, np.uint64)
    ladders = np.full((4, features.LADDER_BYTES), 0xFF, np.uint8)
    positions_together = np.concatenate(positions)
    features.write_batch(positions_together, indices, symmetries, False, WORKSPACE, planes, scalars, keys, 0, ladders)
    for row, (index, symmetry) in enumerate(zip(indices, symmetries, strict=True)):
        expected = write(positions[index], symmetry=symmetry)
        assert (planes[row].transpose(2, 0, 1) == expected[0]).all()
        assert (scalars[row] == expected[1]).all()
        assert int(keys[row]) == expected[2]
        assert (np.unpackbits(ladders[row], bitorder="little")[:35] == WORKSPACE.caught[:35]).all()
    assert keys[2] == keys[3] != keys[0]


def test_the_key_tells_inputs_apart() -> None:
    """Komi, rules, the order of moves and whose turn it is are in the key; what is not shown is not."""
    game = some_game()
    keys = {of_game(game)[2]}
    game.set_komi(6.5)
    keys.add(of_game(game)[2])
    assert len(keys) == 2
    by_rules = {(r.ko, r.scoring, r.tax, r.suicide, r.has_button): r for r in RULESETS.values()}
    keys = set()
    for rules in RULESETS.values():
        game.set_rules(rules)
        keys.add(of_game(game)[2])
    assert len(keys) == len(by_rules)
    first, second = Game(5), Game(5)
    for colour, x in ((BLACK, 0), (WHITE, 2), (BLACK, 4), (WHITE, 1)):
        first.play(colour, point_at(x, 2, 5))
    for colour, x in ((BLACK, 4), (WHITE, 2), (BLACK, 0), (WHITE, 1)):
        second.play(colour, point_at(x, 2, 5))
    turned = first.copy()
    turned.to_move = WHITE
    keys = {of_game(game)[2] for game in (first, second, turned)}
    assert len(keys) == 3
    for game in (first, second):
        game.to_move = WHITE  # nothing before is shown
    assert of_game(first)[2] == of_game(second)[2]


def test_a_playout_doubling_advantage_is_seen_from_the_side_to_move() -> None:
    position = features.position_of(some_game(), WORKSPACE)
    keys = set()
    for doublings, seen in ((0.0, (0, 0)), (1.5, (1, 0.75)), (-1.5, (1, -0.75))):
        for to_move, sign in ((BLACK, 1), (WHITE, -1)):
            position["doublings"], position["to_move"] = doublings, to_move
            _, scalars, key = write(position)
            assert scalars[15:17].tolist() == [seen[0], sign * seen[1]]
            keys.add(key)
    assert len(keys) == 6


def test_a_board_too_large_is_refused() -> None:
    position = features.position_of(Game(9), WORKSPACE)
    with pytest.raises(ValueError, match="larger than the network's inputs"):
        write(position, size=(9, 7))


def test_conservative_pass_hides_the_pass_before() -> None:
    game = Game(5, rules=RULESETS["tromp-taylor"])
    game.play(BLACK, point_at(2, 2, 5))
    quiet = features.position_of(game, WORKSPACE, conservative_pass=True)
    assert (write(quiet)[0] == of_game(game)[0]).all()
    game.play(WHITE, PASS)
    assert of_game(game)[1][[0, 14]].tolist() == [1, 1]
    hidden = write(features.position_of(game, WORKSPACE, conservative_pass=True))
    assert hidden[1][[0, 14]].tolist() == [0, 0]
    assert not hidden[0][9:14].any()
    game.play(BLACK, PASS)
    finished = write(features.root_position_of(game, WORKSPACE))
    assert finished[1][[0, 14]].tolist() == [0, 0]
    assert not finished[0][9:14].any()
    japanese = Game(5, rules=RULESETS["japanese"])
    japanese.play(BLACK, PASS)
    shown = write(features.position_of(japanese, WORKSPACE, conservative_pass=True))
    assert shown[1][[0, 14]].tolist() == [1, 1]

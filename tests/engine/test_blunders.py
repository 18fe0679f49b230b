"""What no player of any rank does, each on a position as text."""

import numpy as np
import pytest
from drawn_positions import game_of

from gtp_engine.engine.rank_play import Blunders, choose_at
from gtp_engine.engine.ranks import Strength
from gtp_engine.go.coords import BLACK, PASS, WHITE, all_points, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.points import index_of_point
from gtp_engine.search.report import SearchReport


def report_on(game: Game, likely: dict[str, float], ownership: dict[str, float] | float = 0.0) -> SearchReport:
    """Returns an evaluation: the probabilities of some moves, equal for the others, and the ownership."""
    priors = game.legal_moves().astype(np.float32)
    priors *= (1 - sum(likely.values())) / priors.sum()
    for name, share in likely.items():
        point = parse_vertex(name, game.width, game.height)
        priors[-1 if point == PASS else index_of_point(point, game.width, game.height)] = share
    owners = np.full((game.height, game.width), 0.0 if isinstance(ownership, dict) else ownership, np.float32)
    for name, owner in ownership.items() if isinstance(ownership, dict) else ():
        index = index_of_point(parse_vertex(name, game.width, game.height), game.width, game.height)
        owners.reshape(-1)[index] = owner
    return SearchReport(
        game.width, game.height, game.to_move, 1, 1, 0.5, 0.0, 0.0, 10.0, 0.0, (), priors, owners, 0.0
    )  # fmt: skip


def is_absurd(game: Game, name: str, prior: float = 0.01, ownership: dict[str, float] | float = 0.0) -> bool:
    return Blunders(game, report_on(game, {name: prior}, ownership)).is_absurd(
        parse_vertex(name, game.width, game.height)
    )


EYES = """
. X . . . . .
X X . . . . .
. . . . . . .
. . . . . . .
. . . . X . .
. . . X . X .
. . . X X X .
"""


def test_own_eyes_are_not_filled() -> None:
    game = game_of(EYES)
    assert is_absurd(game, "A7") and is_absurd(game, "E2")
    assert not is_absurd(game, "C7") and not is_absurd(game, "C6")


def test_an_eye_whose_stones_are_in_atari_may_be_filled() -> None:
    game = game_of("""
        . X O . . . .
        X O . . . . .
        O . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    assert not Blunders(game, report_on(game, {})).is_own_eye(parse_vertex("A7", 7, 7))


def test_the_edge_is_played_only_near_stones() -> None:
    game = game_of("""
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . X . .
        . . . . . . .
        . . . . . . .
    """)
    assert is_absurd(game, "A4") and is_absurd(game, "B1") and is_absurd(game, "G7")
    assert not is_absurd(game, "E1") and not is_absurd(game, "C1") and not is_absurd(game, "G5")
    assert not is_absurd(game, "B2")
    assert not is_absurd(Game(2, 9), "A1")


def test_a_false_eye_is_no_eye() -> None:
    game = game_of("""
        . . . . . . .
        . . O X O . .
        . . X . X . .
        . . . X X . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    assert not is_absurd(game, "D5")


LADDER = """
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. O O . . . . . .
O X O . . . . . .
. . . . . . . . .
"""


def test_stones_that_a_ladder_catches_are_not_saved_in_vain() -> None:
    game = game_of("""
        . . . . . . . . .
        . . . . . . . . .
        . . O O . . . . .
        . . O X . O . . .
        . . O X O . . . .
        . . . O . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """)
    # Black's two stones have one liberty, E6; a stone there has one again.
    assert is_absurd(game, "E6")
    assert not is_absurd(game, "E6", prior=0.9)  # the network is sure: it may be a sacrifice


VICTIM = """
. . . . . . . . .
. . . . . . . . .
. . . O . . . . .
. . O X . . . . .
. . . O O . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""


def test_a_ladder_is_not_played_out_by_its_victim() -> None:
    assert is_absurd(game_of(VICTIM), "E6")


def test_a_ladder_that_a_stone_breaks_is_played_out() -> None:
    game = game_of("""
        . . . . . . . . .
        . . . . . X . . .
        . . . O . . . . .
        . . O X . . . . .
        . . . O O . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """)
    assert not is_absurd(game, "E6")


def test_several_stones_are_not_put_into_atari_for_nothing() -> None:
    game = game_of("""
        . X X . O . .
        O O O O O . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    assert is_absurd(game, "A7") and is_absurd(game, "D7")


def test_proven_areas_are_left_alone() -> None:
    game = game_of("""
        . . X . X . .
        . . X X X . .
        . . . . . . .
        . . . . . . .
        O O O O . . .
        . O . O . . .
        O O O O . . .
    """)
    assert is_absurd(game, "C2")  # White's eye, in pass-alive territory
    assert not is_absurd(game, "C5")


def test_settled_points_are_left_alone_unless_a_threat_is_answered() -> None:
    game = game_of(LADDER)
    assert is_absurd(game, "G6", prior=0.01, ownership={"G6": -0.95})
    assert not is_absurd(game, "G6", prior=0.1, ownership={"G6": -0.95})
    assert not is_absurd(game, "G6", prior=0.01, ownership={"G6": -0.5})


LARGE_GROUP = """
. . . . . . . . .
. . O O O O O . .
. O X X X X X O .
. . O O O O . . .
. . . . . . . X .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""


def test_an_atari_of_a_large_group_is_answered() -> None:
    game = game_of(LARGE_GROUP)
    saving = Blunders(game, report_on(game, {})).saving_moves()
    assert [game.vertex(point) for point in saving] == ["G6"]
    report = report_on(game, {"E2": 0.9})
    for strength in (0.5, 0.9, 1.0):
        chosen = {choose_at(Strength(strength), game, report, np.random.default_rng(seed)) for seed in range(20)}
        assert {game.vertex(point) for point in chosen} == {"G6"}


def test_a_forbidden_move_does_not_save_a_group() -> None:
    game = game_of(LARGE_GROUP)
    report = report_on(game, {"E2": 0.9, "G6": 0.0})
    assert game.vertex(choose_at(Strength(1.0), game, report, None)) == "E2"


def test_a_weak_player_overlooks_an_atari_now_and_then() -> None:
    game = game_of(LARGE_GROUP)
    report = report_on(game, {"E2": 0.9})
    chosen = [choose_at(Strength(0.1), game, report, np.random.default_rng(seed)) for seed in range(200)]
    answered = chosen.count(parse_vertex("G6", 9, 9)) / len(chosen)
    assert 0.45 < answered < 0.75  # 0.6


def test_a_lost_or_small_group_is_not_saved() -> None:
    game = game_of(LARGE_GROUP)
    lost = Blunders(game, report_on(game, {}, ownership=-0.9))
    assert lost.saving_moves() == []
    small = game_of(LADDER)
    assert Blunders(small, report_on(small, {})).saving_moves() == []


def test_a_group_is_saved_by_capturing_if_it_cannot_run() -> None:
    game = game_of("""
        X X X X X O .
        O O O O . O .
        X X X X X X .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    assert [game.vertex(point) for point in Blunders(game, report_on(game, {})).saving_moves()] == ["E6"]


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor"])
def test_suicide_saves_no_group(rules: str) -> None:
    game = game_of("""
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        O O O . . . .
        X X X O . . .
        X . X O . . .
    """)
    game.set_rules(rules)
    assert game.is_legal(parse_vertex("B1", 7, 7)) == (rules == "tromp-taylor")
    assert Blunders(game, report_on(game, {})).saving_moves() == []


def test_a_player_passes_if_no_sensible_move_is_left() -> None:
    game = game_of("""
        . X . X O . O
        X X X X O O O
        . X . X O . O
        X X X X O O O
        . X . X O . O
        X X X X O O O
        . X . X O . O
    """)
    for colour in (BLACK, WHITE):
        game.to_move = colour
        assert choose_at(Strength(0.0), game, report_on(game, {}), np.random.default_rng(1)) == PASS


# White is pass-alive, and Black's stones at A5 and G5 are dead; E1 is a neutral point.
INSIDE = """
    . O . O . O .
    O O O O O O O
    X . O . O . X
    O O O O O O O
    X X X X O O O
    X X X X X O O
    . X . X . O .
"""


@pytest.mark.parametrize(("rules", "tried"), [("chinese", {"B5", "F5", "E1"}), ("japanese", {"E1"})])
def test_what_a_player_who_is_not_sure_may_try(rules: str, tried: set[str]) -> None:
    game = game_of(INSIDE, rules, to_move=WHITE)
    blunders = Blunders(game, report_on(game, {}, ownership=0.99))
    points = filter(game.is_legal, all_points(7, 7))
    assert {game.vertex(point) for point in points if blunders.may_gain(point)} == tried


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_nothing_is_tried_in_proven_territory_of_the_opponent(colour: int) -> None:
    game = game_of(INSIDE, "chinese", to_move=colour)
    report = report_on(game, {"pass": 0.9}, ownership={"E1": 0.0, "B5": -1.0, "F5": -1.0})
    assert game.vertex(choose_at(Strength(0.3), game, report, None)) in {BLACK: ("E1",), WHITE: ("E1", "B5")}[colour]


def test_no_pass_in_the_opening_if_all_likely_moves_are_absurd() -> None:
    game = game_of(VICTIM)
    report = report_on(game, {"E6": 0.45})
    assert Blunders(game, report).is_absurd(parse_vertex("E6", 9, 9))
    for strength in (0.6, 0.9, 1.0, 2.1):
        for seed in range(5):
            chosen = choose_at(Strength(strength), game, report, np.random.default_rng(seed))
            assert game.vertex(chosen) not in ("E6", "pass")


def test_a_pass_is_not_drawn() -> None:
    game = game_of(LADDER)
    report = report_on(game, {"pass": 0.5})
    assert all(choose_at(Strength(0.5), game, report, np.random.default_rng(seed)) != PASS for seed in range(50))


@pytest.mark.parametrize(("strength", "low", "high"), [(0.0, 0, 0.1), (0.5, 0.5, 0.7), (0.8, 0.8, 0.98), (1.0, 1, 1)])
def test_a_stronger_player_more_often_plays_the_policys_first_choice(strength: float, low: float, high: float) -> None:
    game = game_of(LADDER)
    report = report_on(game, {"F6": 0.5, "G5": 0.3, "pass": 0.0})
    random = np.random.default_rng(1)
    drawn = [choose_at(Strength(strength), game, report, random) for _ in range(200)]
    assert low <= drawn.count(parse_vertex("F6", 9, 9)) / len(drawn) <= high


def test_without_randomness_the_likeliest_sensible_move_is_chosen() -> None:
    game = game_of(EYES)
    report = report_on(game, {"A7": 0.4, "C3": 0.3})
    assert game.vertex(choose_at(Strength(0.2), game, report, None)) == "C3"


def test_the_same_seed_draws_the_same_moves() -> None:
    game = game_of(LADDER)
    report = report_on(game, {})

    def draws() -> list[int]:
        random = np.random.default_rng(7)
        return [choose_at(Strength(0.3), game, report, random) for _ in range(10)]

    assert draws() == draws() and len(set(draws())) > 3

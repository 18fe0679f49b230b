"""The compiled count against the one in plain Python."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gtp_engine.game.coords import PASS, point_of_index
from gtp_engine.game.counting import area_margin
from gtp_engine.game.game import Game
from gtp_engine.game.rules import RULESETS
from gtp_engine.game.scoring import final_score


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(2, 9),
    height=st.integers(2, 9),
    rules=st.sampled_from(["tromp-taylor", "chinese", "aga", "aga-button"]),
    komi=st.sampled_from([0.0, 0.5, 7.0, -3.5]),
    choices=st.lists(st.integers(0, 10_000), max_size=120),
)
def test_counts_as_scoring_does(width: int, height: int, rules: str, komi: float, choices: list[int]) -> None:
    game = Game(width, height, rules=RULESETS[rules], komi=komi)
    for choice in choices:
        legal = game.legal_moves().nonzero()[0]
        game.play(game.to_move, point_of_index(int(legal[choice % len(legal)]), width, height))
    game.play(game.to_move, PASS)
    assert area_margin(game.board[0]) == final_score(game)

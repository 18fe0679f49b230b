"""How dead stones are captured, with rollouts: every line is played on the board."""

import pytest
from drawn_positions import DEAD_STONES, PRISONERS, game_of

from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game


def after_two_passes(drawing: str) -> Game:
    game = game_of(drawing)
    for _ in range(2):
        game.play(game.to_move, PASS)
    return game


@pytest.mark.parametrize(
    ("drawing", "dead"), [(PRISONERS, ["B1", "B4", "G3"]), (DEAD_STONES, ["B8"])], ids=["7x7", "9x9"]
)
def test_every_line_ends_with_its_chain_off_the_board(drawing: str, dead: list[str]) -> None:
    game = after_two_passes(drawing)
    with Engine(EngineSettings("none", threads=1, seed=1), width=game.width) as engine:
        engine.load(game)
        captures = engine.capture_lines([game.point(name) for name in dead]).result()
    assert {name for each in captures for name in map(game.vertex, each.stones)} == set(dead)
    for capture in captures:
        position, owner = game.copy(), game.stone_at(min(capture.stones))
        assert capture.moves[0].colour == 3 - owner
        for move in capture.moves:
            position.play(move.colour, move.point)
        assert all(position.stone_at(stone) != owner for stone in capture.stones)


def test_what_lives_has_no_line() -> None:
    game = after_two_passes(PRISONERS)
    with Engine(EngineSettings("none", threads=1, seed=1), width=7) as engine:
        engine.load(game)
        chain = game.chain("A6")
        assert chain is not None
        (capture,) = engine.capture_lines(chain.stones).result()
    assert capture.moves == ()
    assert capture.in_words(game).endswith(": no line was found that captures this")


def test_a_line_in_words() -> None:
    game = after_two_passes(PRISONERS)
    with Engine(EngineSettings("none", threads=1, seed=1), width=7) as engine:
        engine.load(game)
        (capture,) = engine.capture_lines([game.point("G3")]).result()
    words = capture.in_words(game)
    assert words.startswith("G3: White ") and {move.colour for move in capture.moves} <= {BLACK, WHITE}

"""Finished positions with right counts: sekis that look dead, and points that have to be filled."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_positions import game_of

from gtp_engine.engine import seki_reading
from gtp_engine.engine.seki_reading import uncapturable_stones
from gtp_engine.engine.status import find_dead
from gtp_engine.go.coords import BLACK, EMPTY, PASS
from gtp_engine.go.game import Game
from gtp_engine.go.regions import cells_of
from gtp_engine.solver.reading import Reading

RULES = ("japanese", "chinese")


def read_positions() -> list[tuple[dict[str, str], str]]:
    """Returns the properties and the drawing of each position."""
    positions = []
    for block in (Path(__file__).parents[1] / "data" / "counts.txt").read_text().split("\n\n")[1:]:
        lines = block.strip().splitlines()
        properties = dict(line.split(":", 1) for line in lines if ":" in line)
        rows = [line for line in lines if ":" not in line]
        assert len({len(row) for row in rows}) == 1, properties["name"]
        positions.append((properties, "\n".join(rows)))
    return positions


def swapped(drawing: str) -> str:
    """Returns a drawing with the players' colours changed."""
    return drawing.translate(str.maketrans("XO", "OX"))


def chains_at(game: Game, names: str) -> set[int]:
    """Returns the points of the chains that these stones belong to."""
    chains = [game.chain(name) for name in names.split()]
    return {point for chain in chains if chain for point in chain.stones}


def sure_ownership(game: Game, dead: set[int]) -> np.ndarray:
    """What a network finds that is sure that these stones are dead and all others alive."""
    stones = game.stones()
    ownership = np.select([stones == BLACK, stones == EMPTY], [0.98, 0.0], -0.98)
    for cell in cells_of(dead, game.width):
        ownership[cell] *= -1
    return ownership


@pytest.mark.usefixtures("solver")
def test_all_that_is_read_for_a_chain_has_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[Reading] = []

    class Counted(Reading):
        def __init__(self, *about: Any) -> None:
            super().__init__(*about)
            readings.append(self)

    monkeypatch.setattr(seki_reading, "Reading", Counted)
    drawing = next(drawing for about, drawing in read_positions() if about["name"] == " three points without capturing")
    game = game_of(drawing, "japanese", komi=0)
    chain = chains_at(game, "A5")
    assert uncapturable_stones(game, chain) == chain
    needed = sum(reading.positions for reading in readings)
    assert len(readings) > 2 and needed > max(reading.positions for reading in readings)
    readings.clear()
    monkeypatch.setattr(seki_reading, "_MOST_POSITIONS", needed - 1)
    assert uncapturable_stones(game, chain) == set()
    assert sum(reading.positions for reading in readings) < needed


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("is_swapped", [False, True], ids=["as drawn", "colours swapped"])
@pytest.mark.parametrize(
    ("properties", "drawing", "rules"),
    [
        pytest.param(
            *(properties, drawing, rules),
            id=f"{properties['name'].strip()}, {rules}",
            marks=[pytest.mark.xfail(reason=properties["fails"], strict=True)] if "fails" in properties else [],
        )
        for properties, drawing in read_positions()
        for rules in RULES
        if rules in properties
    ],
)
def test_the_count_is_right(properties: dict[str, str], drawing: str, rules: str, is_swapped: bool) -> None:
    game = game_of(swapped(drawing) if is_swapped else drawing, rules, komi=0)
    ownership = sure_ownership(game, chains_at(game, properties["looks dead"]))
    for _ in range(3):  # during the game, after the first pass and after the last
        dead = find_dead(game, lambda: ownership)
        assert dead == chains_at(game, properties["dead"])
        assert game.score(dead).points == float(properties[rules]) * (-1 if is_swapped else 1)
        game.play(game.to_move, PASS)

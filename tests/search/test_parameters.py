"""Temperatures, which fall from the start of a game on."""

import pytest
from searching import searched

from gtp_engine.go.coords import PASS
from gtp_engine.go.game import Game
from gtp_engine.search.parameters import SearchParameters

KATAGO = {"chosenMoveTemperatureEarly": 0.5, "chosenMoveTemperature": 0.1, "chosenMoveTemperatureHalflife": 19}


@pytest.mark.parametrize(("size", "moves"), [(19, (0, 19, 38)), (9, (0, 9, 18))])
def test_temperatures_fall_by_halves_as_in_katago(size: int, moves: tuple[int, ...]) -> None:
    parameters = SearchParameters().with_values(KATAGO | {"rootPolicyTemperatureEarly": 1.5})
    found = [parameters.temperature_after(number, size * size) for number in moves]
    assert found == pytest.approx([0.5, 0.3, 0.2])
    found = [parameters.root_policy_temperature_after(number, size * size) for number in moves]
    assert found == pytest.approx([1.5, 1.25, 1.125])


def test_a_root_policy_temperature_alone_is_for_the_whole_game() -> None:
    parameters = SearchParameters(root_policy_temperature=2.0)
    assert [parameters.root_policy_temperature_after(moves, 81) for moves in (0, 9, 90)] == [2, 2, 2]


def test_a_number_of_moves_may_have_the_first_temperature() -> None:
    parameters = SearchParameters(temperature=1.0, temperature_moves=30, temperature_halflife=0.0)
    assert [parameters.temperature_after(moves, 81) for moves in (0, 29, 30, 60)] == [1, 1, 0, 0]
    parameters = SearchParameters(temperature=1.0, temperature_moves=30, temperature_halflife=38)
    assert [parameters.temperature_after(moves, 361) for moves in (29, 30, 68)] == [1, 1, 0.5]


@pytest.mark.parametrize(("early", "late"), [(2.0, 0.0), (0.0, 2.0)])
def test_a_choice_has_the_temperature_of_its_move(early: float, late: float) -> None:
    start, later = Game(5), Game(5)
    for _ in range(100):
        later.play(later.to_move, PASS)
    for game, temperature in ((start, early), (later, late)):
        search, report = searched(game, 200, temperature=early, late_temperature=late)
        chosen = {search.choose(report) for _ in range(50)}
        assert len(chosen) > 3 if temperature else chosen <= {move.point for move in report.moves[:2]}


def test_the_lowest_temperature_of_the_priors_leaves_numbers() -> None:
    _, report = searched(Game(9), 30, early_root_policy_temperature=1e-6)
    assert report.moves[0].prior == report.priors.max() and report.moves[0].visits > 20

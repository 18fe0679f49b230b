"""Ranks: their names and order, the table of strengths, and what stands for what was not measured."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.languages.texts import texts
from gtp_engine.engine.ranks import (
    RANKS,
    RANKS_FILE,
    STRONGEST,
    WEAKEST,
    Rank,
    Strength,
    as_rank,
    is_measured,
    next_rank,
    parse_rank,
    play_at,
    read_ranks,
)
from gtp_engine.nets.library import RANK_PLAY, bundled_folder, default_networks, network_name


@pytest.mark.parametrize(
    ("text", "number"), [("25k", -24), ("12k", -11), ("1k", 0), ("1d", 1), ("5D", 5), (" 3 dan ", 3), ("10kyu", -9)]
)
def test_names_of_ranks(text: str, number: int) -> None:
    assert as_rank(text) == Rank(number)


def test_every_rank_is_named_and_read_again() -> None:
    assert [as_rank(str(rank)) for rank in RANKS] == list(RANKS)
    assert [str(rank) for rank in (RANKS[0], *RANKS[23:27], RANKS[-1])] == ["25k", "2k", "1k", "1d", "2d", "5d"]
    assert list(RANKS) == sorted(RANKS) and RANKS[0] is not RANKS[-1]


@pytest.mark.parametrize("text", ["max", "none", "", " ", "MAX"])
def test_words_for_full_strength(text: str) -> None:
    assert as_rank(text) is None


@pytest.mark.parametrize("text", ["", " "])
def test_what_is_typed_is_not_empty(text: str) -> None:
    with pytest.raises(UserError, match="invalid rank"):
        parse_rank(text)


@pytest.mark.parametrize(("text", "example"), [("15", "15k"), ("3", "3k"), ("26", "12k"), ("1p", "12k")])
def test_a_bare_number_is_answered_with_the_kyu(text: str, example: str) -> None:
    with pytest.raises(UserError, match=f"invalid rank '{text}': expected 25k to 5d, such as {example}, or max"):
        parse_rank(text)


def test_a_rank_that_follows_results_is_not_for_every_command() -> None:
    with pytest.raises(UserError, match=r"for the start of .play. and .web. only.*under \[play\] or \[web\]"):
        parse_rank("Auto")


def test_a_rank_shows_its_name() -> None:
    assert repr([as_rank("12k"), as_rank("3d")]) == "[<Rank 12k>, <Rank 3d>]"


@pytest.mark.parametrize("value", ["26k", "6d", "0k", "12", "k", "d3", "1p", "12k3", 12, 1.0, True, Rank(6)])
def test_other_ranks_are_refused(value: object) -> None:
    with pytest.raises(UserError, match=r"invalid rank '.*': expected 25k to 5d, such as 12k, or max"):
        as_rank(value)


def test_the_table_has_the_default_networks_and_rises() -> None:
    table = read_ranks(bundled_folder() / RANKS_FILE)
    assert {network_name(path) for path in default_networks(RANK_PLAY)} <= set(table)
    for boards in table.values():
        for strengths in boards.values():
            ordered = [strengths[rank] for rank in sorted(strengths)]
            assert all(low < high for low, high in pairwise(ordered)) and ordered[0] >= 0


TABLE = """
[small.9x9]
measured = "some games"
25k = 0.1
8k = 0.5
1k = 2.0
[large.13x13]
25k = 0.2
5d = 3
[large.19x19]
25k = 0.3
5d = 9
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / RANKS_FILE).write_text(TABLE)
    monkeypatch.setattr("gtp_engine.engine.ranks.bundled_folder", lambda: tmp_path)
    default = tmp_path / "large.bin.gz"
    monkeypatch.setattr(
        "gtp_engine.engine.ranks.default_network", lambda width, height, use: default if width > 9 else None
    )
    monkeypatch.setattr("gtp_engine.engine.ranks.default_networks", lambda use: {default: (10, 19)})


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("network", "size", "strength"),
    [("small", (9, 9), 0.1), ("/some/small.bin.gz", (7, 7), 0.1), ("large", (19, 19), 0.3), ("large", (13, 9), 0.2),
     ("large", (16, 16), 0.3)],
)  # fmt: skip
def test_a_board_has_the_strengths_of_the_nearest_size(network: str, size: tuple[int, int], strength: float) -> None:
    assert play_at(WEAKEST, network, *size).strength == Strength(strength)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("network", "size", "is_it"),
    [("small", (9, 9), True), ("small", (7, 7), False), ("small", (13, 13), False), ("large", (13, 13), True),
     ("large", (13, 9), False), ("large", (15, 15), False), ("large", (21, 21), False), ("other", (19, 19), False)],
)  # fmt: skip
def test_a_rank_is_measured_for_one_network_on_one_board(network: str, size: tuple[int, int], is_it: bool) -> None:
    assert is_measured(network, *size) is is_it
    assert play_at(WEAKEST, network, *size).note.endswith("has not been measured") is not is_it


@pytest.mark.usefixtures("table")
def test_what_was_not_measured_is_said() -> None:
    play = play_at(STRONGEST, "other", 19, 19)
    assert play.strength == Strength(9)
    assert play.note == (
        "the engine may be stronger or weaker than its rank: how strongly it plays here has not been measured"
    )
    play = play_at(STRONGEST, "small", 9, 9)
    assert play.strength == Strength(2)
    assert play.note == "the engine reaches 1 kyu on 9x9: it plays at that rank instead of 5 dan"
    spanish = "el motor alcanza 1 kyu en 9x9: juega con ese rango en lugar de 5 dan"
    assert [texts("es").say(note) for note in play.notes] == [spanish]
    assert "has not been measured" in play_at(WEAKEST, "none", 5, 5).note


@pytest.mark.usefixtures("table")
def test_between_the_ranks_of_the_table_the_one_below_is_played() -> None:
    assert play_at(as_rank("12k") or WEAKEST, "small", 9, 9).strength == Strength(0.1)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("rank", "step", "reached"),
    [("max", -1, "1k"), ("5d", -1, "8k"), ("1k", -1, "8k"), ("12k", -1, "25k"), ("25k", -1, "25k"), ("25k", 1, "8k"),
     ("2k", 1, "1k"), ("1k", 1, "max"), ("5d", 1, "max"), ("max", 1, "max")],
)  # fmt: skip
def test_steps_go_through_the_ranks_that_exist(rank: str, step: int, reached: str) -> None:
    assert next_rank(as_rank(rank), step, "small", 9, 9) == as_rank(reached)


def test_the_path_of_strength_rises() -> None:
    path = [Strength(value) for value in np.linspace(0, 9, 91)]
    for low, high in pairwise(path):
        assert low.visits() <= high.visits() and low.of_policy <= high.of_policy
        assert low.alertness <= high.alertness and low.patience >= high.patience
    assert [Strength(value).visits() for value in (0, 0.5, 1, 2, 3, 9)] == [1, 1, 1, 2, 4, 256]
    assert (Strength(0.5).alertness, Strength(0).alertness, Strength(1).patience) == (1, 0.5, 1)


def test_visits_that_are_not_whole_are_a_mean() -> None:
    random = np.random.default_rng(1)
    strength = Strength(1 + np.log2(5.25))
    visits = [strength.visits(random) for _ in range(4000)]
    assert set(visits) == {5, 6} and abs(np.mean(visits) - 5.25) < 0.03

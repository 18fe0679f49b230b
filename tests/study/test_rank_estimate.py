"""What rank a person plays like: the figures of moves, the sum, its names, and when there is no estimate."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from reviews import D4, E5, F6, game_of, loss

from gtp_engine.base.languages.texts import LANGUAGES, texts
from gtp_engine.clients.cli.review_display import players_table
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.search.evaluate.batch import evaluate_games
from gtp_engine.study.page.page import review_page
from gtp_engine.study.rank_estimate import (
    NETWORK,
    PlayFigures,
    RankEstimate,
    estimate,
    estimate_ranks,
    figures_of,
    rank_name,
)
from gtp_engine.study.review_data import to_json
from gtp_engine.study.searches import Positions

SAMPLES = Path(__file__).resolve().parents[2] / "sgf" / "samples"


def worker_of(network: str = NETWORK) -> SearchWorker:
    worker = SearchWorker(EngineSettings(network, threads=1, seed=1))
    worker.warm_up()
    return worker


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        # 4.15 - 44.91 * 0.2 - 15.67 * 0.2 = -7.97, half of the interval 4.93 + 0.221 * 7.97 = 6.69
        (PlayFigures(0.2, 0.2), "8k (15k to 1k)"),
        (PlayFigures(0.02, 0.05), "1d or stronger (at least 2k)"),
        (PlayFigures(0.9, 0.9), "35k (35k to 22k)"),
    ],
)
def test_the_figures_add_up_to_a_rank(figures: PlayFigures, text: str) -> None:
    assert str(estimate(figures)) == text


def test_ranks_have_names() -> None:
    assert [rank_name(value) for value in (-99, -1.4, -0.6, -0.4, 0.4, 2, 99)] == [
        "35k",
        "1k",
        "1k",
        "1d",
        "1d",
        "3d",
        "7d",
    ]


def test_two_masters_are_dan_players_by_a_whole_game_only() -> None:
    record = read_sgf(SAMPLES / "ear-reddening-1846.sgf")
    worker = worker_of()
    try:
        evaluator = worker.evaluator_on(19, 19)
        found = estimate_ranks(evaluator, Positions(record))
        assert set(found) == {BLACK, WHITE}
        assert all(one.is_dan for one in found.values())
        few = GameRecord.from_game(Positions(record)[118])  # 59 moves each
        assert estimate_ranks(evaluator, Positions(few)) == {}
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("network", "sample", "size"), [(NETWORK, "13x13.sgf", 13), ("b6c64-19x19", "ear-reddening-1846.sgf", 19)]
)
def test_nobody_is_estimated_on_other_boards_or_by_other_networks(network: str, sample: str, size: int) -> None:
    worker = worker_of(network)
    try:
        assert estimate_ranks(worker.evaluator_on(size, size), Positions(read_sgf(SAMPLES / sample))) == {}
    finally:
        worker.close()


def test_a_move_into_the_void_is_absurd_and_costs() -> None:
    """Black's second move on the first line of an empty corner is no move that the network expects."""
    positions = Positions(read_sgf(b"(;SZ[19]KM[7.5];B[pd];W[dp];B[aa];W[pq])"))
    worker = worker_of()
    try:
        evaluations = evaluate_games(worker.evaluator_on(19, 19), [positions[number] for number in range(5)])
    finally:
        worker.close()
    assert figures_of(evaluations, positions, [0, 2]) == PlayFigures(0.5, 0.5)
    assert figures_of(evaluations, positions, [1, 3]) == PlayFigures(0, 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_review_tells_the_rank_and_how_far_to_trust_it(language: str) -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, F6, F6, 0.0)]
    ranks = {BLACK: RankEstimate(-8, -15, -1), WHITE: RankEstimate(2, -3, 7)}
    text = texts(language)
    page = review_page([replace(game_of(moves), ranks=ranks)], language)
    assert text("players.rankCell", rank="8k", low="15k", high="1k") in page
    assert text("players.rankDan", low="3k") in page
    assert text("trust.rank").split(".")[0][:20] in page
    silent = review_page([game_of(moves)], language)
    assert text("players.rank") not in silent


def test_the_terminal_and_json_have_it_too() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, F6, F6, 0.0)]
    review = replace(game_of(moves), ranks={BLACK: RankEstimate(-8, -15, -1)})
    found = review.figures()
    table = players_table({"Black": found[BLACK], "White": found[WHITE]})
    rows = zip(*(column.cells for column in table.columns), strict=True)
    assert ("plays like, on OGS", "8k (15k to 1k)", "-") in [tuple(map(str, row)) for row in rows]
    players = json.loads(to_json([review]))["games"][0]["players"]
    assert players["black"]["rank"] == {"rank": "8k", "low": "15k", "high": "1k"}
    assert players["white"]["rank"] is None

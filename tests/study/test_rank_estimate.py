"""What rank a person plays like: the figures of moves, the sum, its names, and when there is no estimate."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
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
    RankEstimate,
    estimate,
    estimate_ranks,
    rank_name,
    rank_of,
    rating_of,
    ratios_and_leads,
)
from gtp_engine.study.review_data import to_json
from gtp_engine.study.searches import Positions

SAMPLES = Path(__file__).resolve().parents[2] / "sgf" / "samples"


def worker_of(network: str = NETWORK) -> SearchWorker:
    worker = SearchWorker(EngineSettings(network, threads=1, seed=1))
    worker.warm_up()
    return worker


@pytest.mark.parametrize(
    ("ratio", "change", "text"),
    [
        # 4.832 + 0.534 * ln 0.05 - 0.429 * ln 2 = 2.935, 23.15 * ln 2.935 - 30 = -5.1; with 0.598 less -10.3, more -0.8
        (0.05, 2, "5k (10k to 1k)"),
        (0.3, 1.5, "1d or stronger (at least 2k)"),
        (0.01, 5, "19k to 10k"),
        (0.0003, 10, "35k to 20k"),
        (0, 300, "35k to 20k"),  # as the line above: both are limited
    ],
)
def test_priors_and_changes_of_the_lead_add_up_to_a_rank(ratio: float, change: float, text: str) -> None:
    assert str(estimate(np.full(60, ratio), change * (np.arange(60) % 2))) == text


def test_a_rating_has_a_rank() -> None:
    """By OGS's formula 525 is 30k, and 1918 is 1d."""
    assert [525 * float(rating_of(rank)) for rank in (-30, 0)] == pytest.approx([525, 1918], abs=1)
    assert [rank_of(rating_of(rank)) for rank in (-99, -20, 3, 99)] == pytest.approx([-35, -20, 3, 6])


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


@pytest.mark.slow
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


def test_a_move_into_the_void_is_absurd_and_changes_the_lead() -> None:
    """Black's second move on the first line of an empty corner is no move that the network expects."""
    positions = Positions(read_sgf(b"(;SZ[19]KM[7.5];B[pd];W[dp];B[aa];W[pq];B[dd])"))
    worker = worker_of()
    try:
        evaluations = evaluate_games(worker.evaluator_on(19, 19), [positions[number] for number in range(6)])
    finally:
        worker.close()
    ratios, leads = ratios_and_leads(evaluations, positions, [0, 2, 4])
    assert ratios[1] < 0.001 < 0.1 < min(ratios[0], ratios[2])
    assert leads[2] < leads[1] - 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_review_tells_the_rank_and_how_far_to_trust_it(language: str) -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, F6, F6, 0.0)]
    ranks = {BLACK: RankEstimate(-8), WHITE: RankEstimate(2)}
    text = texts(language)
    page = review_page([replace(game_of(moves), ranks=ranks)], language)
    assert text("players.rankCell", rank="8k", low="14k", high="3k") in page
    assert text("players.rankDan", low="2k") in page
    assert text("trust.rank").split(".")[0][:20] in page
    weak = review_page([replace(game_of(moves), ranks={BLACK: RankEstimate(-14)})], language)
    assert text("players.rankGroup", low="19k", high="10k") in weak
    silent = review_page([game_of(moves)], language)
    assert text("players.rank") not in silent


def test_the_terminal_and_json_have_it_too() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, F6, F6, 0.0)]
    review = replace(game_of(moves), ranks={BLACK: RankEstimate(-8)})
    found = review.figures()
    table = players_table({"Black": found[BLACK], "White": found[WHITE]})
    rows = zip(*(column.cells for column in table.columns), strict=True)
    assert ("plays like, on OGS", "8k (14k to 3k)", "-") in [tuple(map(str, row)) for row in rows]
    players = json.loads(to_json([review]))["games"][0]["players"]
    assert players["black"]["rank"] == {"rank": "8k", "low": "14k", "high": "3k"}
    assert players["white"]["rank"] is None
    for rank, told in ((2, (None, "2k", None)), (-14, (None, "19k", "10k"))):
        [game] = json.loads(to_json([replace(review, ranks={BLACK: RankEstimate(rank)})]))["games"]
        assert tuple(game["players"]["black"]["rank"].values()) == told

"""Estimates of ranks from the kinds of moves, and the models that they need."""

import gc
import weakref
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from gtp_engine.engine.ranks import RANKS_FILE, Rank, read_ranks
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, PASS, WHITE, index_of_point
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.nets.library import bundled_folder
from gtp_engine.search.evaluate.batch import Evaluation
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.row import LEAD, POLICY, EvaluationRow, row_columns
from gtp_engine.study.rank_estimate import (
    BATCH,
    FEWEST_MOVES,
    HORIZON,
    KINDS,
    LOSSES,
    MODELS_FILE,
    PRIORS,
    RankEstimate,
    RankModel,
    count_kinds,
    estimate,
    estimate_as_data,
    find_model,
    measured_boards,
    measured_with,
    read_models,
    unmeasured,
    why_unusable,
)
from gtp_engine.study.reviewer import review

SAMPLE = Path(__file__).resolve().parents[2] / "sgf" / "samples" / "9x9.sgf"
RANKS = [Rank(number) for number in range(-9, 3)]
RANDOM = np.random.default_rng(1)


def true_shares(rank: Rank) -> np.ndarray:
    """Shares of the kinds that change evenly with the rank."""
    slopes = np.linspace(-0.1, 0.1, KINDS)
    shares = np.exp(slopes * rank.number)
    return np.asarray(shares / shares.sum())


def games(rank: Rank, count: int, moves: int = 40) -> np.ndarray:
    return RANDOM.multinomial(moves, true_shares(rank), size=count)


MODEL = RankModel({rank: true_shares(rank) for rank in RANKS}, 1.0)


def test_estimates_hold_the_true_rank_as_often_as_they_say() -> None:
    held, widths = [], {1: [], 10: []}
    for rank in RANKS:
        for count in (1, 10):
            for _ in range(30):
                found = estimate(MODEL, games(rank, count).sum(axis=0))
                assert found is not None and found.low <= found.rank <= found.high
                held.append(found.low <= rank <= found.high)
                widths[count].append(found.high.number - found.low.number)
    assert 0.92 <= np.mean(held) <= 0.995
    assert np.mean(widths[10]) < 0.6 * np.mean(widths[1])


def test_the_posterior_is_bayes_rule() -> None:
    shares = np.full((3, KINDS), 0.5 / (KINDS - 1))
    shares[:, 0] = 0.5
    shares[2, 0], shares[2, 1:] = 0.9, 0.1 / (KINDS - 1)
    model = RankModel(dict(zip(map(Rank, (0, 1, 2)), shares, strict=True)), 1.0)
    counts = np.zeros(KINDS, int)
    counts[0] = FEWEST_MOVES
    found = estimate(model, counts)
    # 0.9^10 against 0.5^10 twice: a probability of 0.994 for 2d, 0.003 for each of the others
    assert (str(found), found and found.low, found and found.high) == ("2d or stronger", Rank(2), Rank(2))
    counts[0] -= 1
    assert estimate(model, counts) is None


def test_ends_of_the_measured_ranks_are_open() -> None:
    def text(low: int, high: int) -> str:
        return RankEstimate(Rank(low), Rank(low), Rank(high), 50, low == -24, high == 4).interval()

    assert text(-24, -20) == "25k or weaker to 21k"
    assert text(-24, -24) == "25k or weaker"
    assert text(4, 4) == "4d or stronger"
    assert text(-3, 4) == "4k to 4d or stronger"
    assert text(-8, -5) == "9k to 6k"
    assert text(-8, -8) == "9k"
    assert estimate_as_data(None) is None


def evaluated(game: Game, lead: float, prior: dict[str, float]) -> Evaluation:
    row = np.zeros(row_columns(game.area), np.float32)
    row[LEAD] = lead
    for name, value in prior.items():
        row[POLICY + index_of_point(game.point(name), game.width, game.height)] = value
    return Evaluation(game.copy(), EvaluationRow(row, game.area))


def test_a_move_is_of_the_kind_of_its_prior_and_of_what_it_turns_out_to_lose() -> None:
    game = Game(5)
    # Black's lead before each move, and the prior of the move
    leads, moves = (0.0, 0.0, 2.0, 2.0, -5.0, -5.0, -5.0), ("C3", "D3", "B3", "pass", "B2", "D2")
    evaluations = []
    for number, lead in enumerate(leads):
        name = moves[number] if number < len(moves) else "pass"
        view = lead if game.to_move == BLACK else -lead
        evaluations.append(evaluated(game, view, {} if name == "pass" else {name: 0.3}))
        if number < len(moves):
            game.play(game.to_move, name)
    rest = iter(evaluations)
    positions = (one.game for one in evaluations)
    counts = count_kinds(positions, game.moves, lambda part: [next(rest) for _ in part])

    def kind(loss: float, prior: float) -> int:
        return int(np.digitize(loss, LOSSES)) * (len(PRIORS) + 1) + int(np.digitize(prior, PRIORS))

    assert HORIZON == 2
    expected = {BLACK: [-2.0, 7.0, 0.0], WHITE: [2.0, 0.0]}  # White's second move is a pass
    for colour, losses in expected.items():
        wanted = np.zeros(KINDS, int)
        np.add.at(wanted, [kind(loss, 0.3) for loss in losses], 1)
        np.testing.assert_array_equal(counts[colour], wanted)


def test_every_measured_rank_of_the_bundled_networks_has_shares() -> None:
    ranks = read_ranks(bundled_folder() / RANKS_FILE)
    for network, boards in read_models(bundled_folder() / MODELS_FILE).items():
        for (width, _), model in boards.items():
            assert list(model.shares) == sorted(ranks[network][width])
            assert model.spread >= 1
            assert all(len(shares) == KINDS and min(shares) > 0 for shares in model.shares.values())


def test_networks_and_boards_without_measurements_are_named() -> None:
    assert measured_with(9, 9) == "b6c64-19x19"  # the default
    assert find_model("other", 9, 9) is find_model("b6c64-19x19", 11, 11) is measured_with(9, 13) is None
    assert measured_boards().startswith("9x9") and "(b4c32-9x9)" in measured_boards()
    text = str(unmeasured("with other"))
    assert text.startswith("no rank can be estimated with other, only on 9x9") and "with b4c32-9x9" in text


def test_positions_of_a_game_are_not_kept() -> None:
    record = long_record(1000)
    kept = []

    def evaluate(part: Iterable[Game]) -> list[Evaluation]:
        found = [evaluated(game, 0.0, {}) for game in part]
        kept.append(weakref.ref(found[0].game) if found else None)
        gc.collect()
        assert sum(one is not None and one() is not None for one in kept) <= 2  # this batch, and the one before
        return found

    counts = count_kinds(record.positions(), record.moves, evaluate)
    assert sum(int(counts[colour].sum()) for colour in (BLACK, WHITE)) == 6  # the others are passes
    assert len(kept) == 1001 // BATCH + 2  # the last one is empty


def long_record(moves: int) -> GameRecord:
    """A game of six stones, after which the players pass."""
    nodes = "".join(f";{'BW'[number % 2]}[]" for number in range(moves - 6))
    return read_sgf(f"(;SZ[9];B[aa];W[ba];B[ca];W[da];B[ea];W[fa]{nodes})".encode())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(;SZ[9];B[aa];W[bb];B[cc])", ""),
        ("(;SZ[9]AB[aa][bb];W[cc];B[dd])", ""),
        (
            "(;SZ[9];B[aa];B[bb];W[cc])",
            "the players do not alternate at move 2 (handicap stones have to be set up, not played)",
        ),
        ("(;SZ[9];B[aa];W[bb];W[cc])", "the players do not alternate at move 3"),
        ("(;SZ[9];B[aa];W[bb];AB[cc];B[dd])", "stones are set up after move 2"),
    ],
)
def test_games_out_of_turn_say_nothing(text: str, reason: str) -> None:
    record = read_sgf(text.encode())
    assert why_unusable(record) == reason
    if reason:
        assert review(record, EngineSettings("b4c32-9x9", visits=2, threads=1, seed=1)).ranks == {}


def test_a_review_estimates_ranks_without_evaluating_the_game_again(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[int] = []
    begin = NetworkEvaluator._begin

    def counting(self: NetworkEvaluator, ticket: object, *rest: object) -> None:
        evaluated.append(len(ticket.missing))  # type: ignore[attr-defined]
        begin(self, ticket, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(NetworkEvaluator, "_begin", counting)
    monkeypatch.setattr("gtp_engine.study.reviewer.worth_explaining", lambda mistakes: [])
    settings = EngineSettings("b4c32-9x9", visits=4, threads=1, seed=1)
    with_ranks = review(read_sgf(SAMPLE), settings)
    positions = sum(evaluated)
    evaluated.clear()
    monkeypatch.setattr("gtp_engine.study.reviewer.estimate_ranks", lambda *rest: {})
    assert review(read_sgf(SAMPLE), settings).ranks == {}
    # Only the last position is new, after two passes: a search of a game that is over takes them back.
    assert 0 < sum(evaluated) <= positions <= sum(evaluated) + 1
    assert set(with_ranks.ranks) == {BLACK, WHITE}
    for colour, found in with_ranks.ranks.items():
        assert found.moves == len([move for move in with_ranks.judged(colour) if move.move.point != PASS])

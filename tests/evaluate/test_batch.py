"""Networks as Python programs use them: many games at once, policies by vertex."""

import threading
import tracemalloc
from concurrent.futures import Future
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from drawn_positions import played

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.symmetry import ALL_SYMMETRIES
from gtp_engine.nets.library import default_network, network_name
from gtp_engine.search.evaluate import batch
from gtp_engine.search.evaluate.batch import Evaluation, evaluate_games, load_network
from gtp_engine.search.evaluate.features import new_workspace, position_of
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.row import EvaluationRow, Policy

FOLDER = Path(__file__).resolve().parents[1] / "data" / "networks"
TINY, HUMAN = FOLDER / "tiny.bin.gz", FOLDER / "human.bin.gz"


GAMES = [played("E5 C3 pass", 9), played("D4", 7), played("", 9), played("A1 B1 C2", 9), played("A1 A2", 7, 5)]


def alone(game: Game, average: bool = False) -> EvaluationRow:
    """Returns the evaluation of one position by the evaluator that searches use."""
    evaluator = NetworkEvaluator(TINY, precision="float32", device="cpu")
    symmetries = np.full(1, ALL_SYMMETRIES) if average else None
    ticket = evaluator.submit(position_of(game, new_workspace()), np.arange(1), symmetries)
    return EvaluationRow(evaluator.collect(ticket)[0].copy(), game.area)


def close(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.allclose(one, other, rtol=1e-4, atol=1e-5))


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 2}, {"threads": 3, "batch_size": 2}])
def test_many_games_are_evaluated_in_their_order(options: dict[str, int]) -> None:
    games = GAMES * 5
    with load_network(TINY, precision="float32", device="cpu", **options) as network:
        evaluations = network.evaluate(games)
    assert len(evaluations) == len(games)
    for game, evaluation in zip(games, evaluations, strict=True):
        assert close(evaluation.row.row, alone(game).row)
        assert (evaluation.game.moves, evaluation.game.to_move) == (game.moves, game.to_move)


def test_an_evaluation_is_the_row_by_name() -> None:
    with load_network(TINY, precision="float32", device="cpu", threads=1) as network:
        (evaluation,) = network.evaluate([GAMES[4]])
        (averaged,) = network.evaluate([GAMES[4]], average=True)
    row = alone(GAMES[4])
    win, loss, _ = row.value.tolist()
    assert evaluation.winrate == pytest.approx((1 + win - loss) / 2, abs=1e-5)
    assert evaluation.lead == pytest.approx(row.lead, rel=1e-4)
    assert evaluation.policy["C3"] == evaluation.priors[2 * 7 + 2]
    assert evaluation.policy["A1"] == 0
    assert evaluation.ownership.shape == (5, 7)
    assert sum(evaluation.policy.values()) == pytest.approx(1, abs=1e-5)
    assert close(averaged.row.row, alone(GAMES[4], average=True).row)
    assert not close(averaged.row.row, row.row)


def test_later_moves_do_not_change_an_evaluation() -> None:
    game = played("D4", 7)
    with load_network(TINY, threads=1) as network:
        (evaluation,) = network.evaluate([game])
    game.play("white", "A1")
    assert evaluation.game.stone_at("A1") == 0


def test_any_thread_may_call_and_torch_keeps_its_threads() -> None:
    before = torch.get_num_threads()
    found: list[Evaluation] = []
    with load_network(TINY, precision="float32", threads=1) as network:
        threads = [threading.Thread(target=lambda: found.extend(network.evaluate(GAMES))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert torch.get_num_threads() == before
    assert len(found) == 4 * len(GAMES)
    for number, evaluation in enumerate(found):
        assert close(evaluation.row.row, alone(GAMES[number % len(GAMES)]).row)


def test_a_batch_size_that_falls_leaves_no_game_out() -> None:
    with load_network(TINY, precision="float32", device="cpu", threads=1, batch_size=4) as network:
        network._evaluator.runner.largest_batch = 3  # as after a lack of memory in the first batch
        evaluations = network.evaluate(GAMES * 5)
    for game, evaluation in zip(GAMES * 5, evaluations, strict=True):
        assert close(evaluation.row.row, alone(game).row)


def test_boards_are_in_memory_while_they_are_evaluated() -> None:
    game = played("pass " * 300, 9)
    with load_network(TINY, threads=1) as network:
        network.evaluate(GAMES)
        tracemalloc.start()
        evaluations = network.evaluate(game for _ in range(300))
        kept, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(evaluations) == 300
    assert peak - kept < 200 * game.board.nbytes  # of which the memory for the inputs takes about 100


def test_it_is_described_and_drawn() -> None:
    with load_network(str(TINY), precision="float32", device="cpu") as network:
        assert repr(network) == "<Network tiny: cpu, float32>"
        (evaluation,) = network.evaluate([GAMES[0]])
    assert repr(evaluation).startswith("<Evaluation: white to move, ")
    groups = [g.get("class") for g in ElementTree.fromstring(evaluation._repr_svg_()).iter() if g.tag.endswith("}g")]
    assert {"black", "white", "ownership"} <= set(groups)


def test_networks_that_imitate_humans_need_a_profile() -> None:
    with load_network(HUMAN, threads=1) as network:
        assert network.takes_profile
        with pytest.raises(UserError, match="profile"):
            network.evaluate(GAMES)
        strong, weak = (network.evaluate([GAMES[0]], profile=name)[0] for name in ("rank_9d", "rank_15k"))
    assert not close(strong.priors, weak.priors)


def test_wrong_arguments_are_refused_where_they_are_given() -> None:
    with pytest.raises(UserError, match=r"no network .nosuch.: .*; installed: b10c384h6nbttflrs-int8, b4c32-9x9"):
        load_network("nosuch")
    for options in ({"network": 5}, {"threads": 0}, {"threads": "2"}, {"batch_size": 1.5}, {"device": "tpu"}):
        with pytest.raises(UserError):
            load_network(**({"network": TINY} | options))
    network = load_network(TINY, threads=1)
    assert network.evaluate([]) == []
    for wrong in (GAMES[0], 5, ["game.sgf"], [None]):
        with pytest.raises(UserError, match=r"invalid games?"):
            network.evaluate(wrong)
    with pytest.raises(UserError, match="boards up to 19x19"):
        network.evaluate([GAMES[0], Game(20)])
    assert len(network.evaluate(GAMES)) == 5
    network.close()
    network.close()
    with pytest.raises(UserError, match="the network tiny is closed"):
        network.evaluate(GAMES)


def test_work_ends_once_it_is_stopped() -> None:
    stop = threading.Event()
    evaluator = NetworkEvaluator(TINY, precision="float32", device="cpu", batch_size=2)
    assert len(evaluate_games(evaluator, GAMES, stop=stop)) == len(GAMES)
    stop.set()
    assert evaluate_games(evaluator, GAMES, stop=stop) == []


def test_rules_that_were_not_learned_are_named_in_a_mixture_too(caplog: pytest.LogCaptureFixture) -> None:
    with load_network("b4c32-9x9", device="cpu") as network:
        network.evaluate([Game(9, rules="chinese"), Game(9, rules="japanese"), Game(9, rules="japanese")])
    assert [message for message in caplog.messages if "learned with" in message] == [
        "b4c32-9x9 learned with Tromp-Taylor and Chinese rules only: it evaluates this game as under Chinese rules"
    ]


def test_an_interrupted_evaluation_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[threading.Event] = []

    def evaluate(*arguments: object, stop: threading.Event, **options: object) -> list[Evaluation]:
        stops.append(stop)
        stop.wait(60)
        return []

    def interrupted(self: Future[object], timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    with load_network(TINY, precision="float32", device="cpu") as network:
        monkeypatch.setattr(batch, "evaluate_games", evaluate)
        with monkeypatch.context() as patched:
            patched.setattr(Future, "result", interrupted)
            with pytest.raises(KeyboardInterrupt):
                network.evaluate(GAMES)
    assert [stop.is_set() for stop in stops] == [True]  # else `close` would have waited for a minute


PROBABILITIES = np.zeros(13, np.float32)  # 4x3: A3 B3 C3 D3 A2 ... D1 pass
PROBABILITIES[[1, 4, 12]] = 0.5, 0.375, 0.125


def test_moves_are_found_by_vertex_and_by_point() -> None:
    policy = Policy(PROBABILITIES, 4, 3)
    assert (policy["B3"], policy["a2"], policy["pass"], policy["D1"]) == (0.5, 0.375, 0.125, 0)
    assert policy[parse_vertex("A2", 4, 3)] == 0.375


def test_it_is_a_mapping_in_move_index_order() -> None:
    policy = Policy(PROBABILITIES, 4, 3)
    assert list(policy) == ["A3", "B3", "C3", "D3", "A2", "B2", "C2", "D2", "A1", "B1", "C1", "D1", "pass"]
    assert list(policy.values()) == PROBABILITIES.tolist() == np.asarray(policy).tolist()
    assert len(policy) == 13
    assert max(policy, key=policy.__getitem__) == "B3"


def test_the_most_probable_moves_come_first() -> None:
    policy = Policy(PROBABILITIES, 4, 3)
    assert policy.top(2) == [("B3", 0.5), ("A2", 0.375)]
    assert policy.top() == [("B3", 0.5), ("A2", 0.375), ("pass", 0.125)]
    assert repr(policy) == "<Policy: B3 50.0%, A2 37.5%, pass 12.5%>"


@pytest.mark.parametrize("move", ["E1", "A4", "", 0.5, 999])
def test_moves_off_the_board_are_errors(move: object) -> None:
    with pytest.raises(UserError, match="invalid"):
        Policy(PROBABILITIES, 4, 3)[move]  # type: ignore[index]
    assert move not in Policy(PROBABILITIES, 4, 3)
    assert Policy(PROBABILITIES, 4, 3).get(move, 0.25) == 0.25
    assert "D1" in Policy(PROBABILITIES, 4, 3)


def test_auto_is_the_network_that_judges() -> None:
    with load_network("auto", threads=1) as network:
        path = default_network(19, 19)
        assert path is not None and network.name == network_name(path)

"""The JSON analysis as a conversation: answers, actions, ids, priorities, memory, and what it says of bad lines."""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from queue import Queue
from random import Random
from typing import Any

import numpy as np
import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.clients.analysis import protocol
from gtp_engine.clients.analysis.answers import answer
from gtp_engine.clients.analysis.protocol import Conversation, Schedulers
from gtp_engine.clients.analysis.query import Defaults, Query, QuerySettings, parse_query
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import Scheduler, run_search
from gtp_engine.search.search import Search

NETWORKS = Path(__file__).resolve().parents[1] / "data" / "networks"
BASE: dict[str, Any] = {"moves": [], "rules": "chinese", "komi": 5, "boardXSize": 5, "boardYSize": 5}
_FLAGS = ("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includePolicy", "includePVVisits")
ALL = dict.fromkeys((*_FLAGS, "includeNoResultValue"), True)


def waiting(lines: Iterable[object]) -> "Queue[bytes | None]":
    """Lines that are there already, with their end."""
    queue: Queue[bytes | None] = Queue()
    for line in lines:
        queue.put(line if isinstance(line, bytes) else json.dumps(line).encode())
    queue.put(None)
    return queue


class OneScheduler(Schedulers):
    """One scheduler for boards of all sizes."""

    def __init__(self, evaluator: Any = None, slots: int = 4) -> None:
        self.scheduler = Scheduler(evaluator or UniformEvaluator(8), slots)

    def on_board(self, width: int, height: int) -> Scheduler:
        return self.scheduler

    def models(self) -> list[dict[str, Any]]:
        return [{"name": "none"}]


def converse(
    *lines: object,
    evaluator: Any = None,
    slots: int = 4,
    schedulers: Schedulers | None = None,
    wait_for_all: bool = True,
    **more: bool,
) -> list[dict[str, Any]]:
    """The answers to these lines, up to the end."""
    answers: list[str] = []
    defaults = Defaults(lambda *_: SearchParameters(), 9, QuerySettings(visits=30), **more)
    schedulers = schedulers or OneScheduler(evaluator, slots)
    conversation = Conversation(schedulers, defaults, waiting(lines), answers.append, seed=1)
    conversation.run(wait_for_all=wait_for_all)
    assert all(answer.endswith("\n") and answer.count("\n") == 1 for answer in answers)
    if wait_for_all:
        assert not conversation._waiting and not conversation._at_work
    return [json.loads(answer) for answer in answers]


def test_boards_without_a_network_that_can_be_read_leave_the_others_theirs() -> None:
    class Cut(OneScheduler):
        def on_board(self, width: int, height: int) -> Scheduler:
            if width == 9:
                raise UserError("weights/small.bin.gz: the file is cut short")
            return self.scheduler

    lines = [BASE | {"id": "a"}, BASE | {"id": "b", "boardXSize": 9}, BASE | {"id": "c"}]
    found = {answer["id"]: answer for answer in converse(*lines, schedulers=Cut())}
    assert found["b"] == {"id": "b", "field": "boardXSize", "error": "weights/small.bin.gz: the file is cut short"}
    assert "rootInfo" in found["a"] and "rootInfo" in found["c"]


def test_an_answer_has_katagos_fields() -> None:
    moves = [["B", "C3"], ["W", "B2"], ["B", "D2"]]
    evaluator = RolloutEvaluator(threads=1, seed=1)
    *warnings, answer = converse(BASE | ALL | {"id": "a", "moves": moves, "maxVisits": 60}, evaluator=evaluator)
    assert [line["field"] for line in warnings] == ["includeOwnershipStdev", "includeNoResultValue"]
    assert set(answer) == {
        *("id", "isDuringSearch", "moveInfos", "rootInfo", "turnNumber", "ownership", "ownershipStdev", "policy"),
    }
    assert (answer["id"], answer["isDuringSearch"], answer["turnNumber"]) == ("a", False, 3)
    assert set(answer["moveInfos"][0]) == {
        *("edgeVisits", "edgeWeight", "lcb", "move", "noResultValue", "order", "ownership", "playSelectionValue"),
        *("prior", "pv", "pvEdgeVisits", "pvVisits", "scoreLead", "scoreMean", "scoreSelfplay", "scoreStdev"),
        *("utility", "utilityLcb", "visits", "weight", "winrate"),
    }
    assert set(answer["rootInfo"]) == {
        *("currentPlayer", "rawLead", "rawNoResultProb", "rawScoreSelfplay", "rawScoreSelfplayStdev"),
        *("rawStScoreError", "rawStWrError", "rawVarTimeLeft", "rawWinrate", "scoreLead", "scoreSelfplay"),
        *("scoreStdev", "symHash", "thisHash", "utility", "visits", "weight", "winrate"),
    }
    assert (answer["rootInfo"]["visits"], answer["rootInfo"]["currentPlayer"]) == (60, "W")
    assert sum(move["visits"] for move in answer["moveInfos"]) == 59
    assert [move["order"] for move in answer["moveInfos"]] == list(range(len(answer["moveInfos"])))
    assert len(answer["ownership"]) == len(answer["ownershipStdev"]) == 25
    assert [answer["policy"].index(-1), answer["policy"].count(-1), len(answer["policy"])] == [12, 3, 26]
    assert sum(value for value in answer["policy"] if value >= 0) == pytest.approx(1, abs=1e-4)
    best = answer["moveInfos"][0]
    assert best["pv"][0] == best["move"] and len(best["pv"]) == len(best["pvVisits"]) == len(best["pvEdgeVisits"])
    assert len(best["ownership"]) == 25


@pytest.mark.parametrize(("view", "sign"), [(None, 1), ("BLACK", 1), ("WHITE", -1), ("SIDETOMOVE", -1)])
def test_values_are_from_the_side_that_is_asked_for(view: str | None, sign: int) -> None:
    # Black has won by far, and white is to move.
    settings = {"overrideSettings": {"reportAnalysisWinratesAs": view}} if view else {}
    query = BASE | {"id": "a", "includeOwnership": True, "initialPlayer": "W", "komi": -100, "maxVisits": 40} | settings
    (answer,) = converse(query, evaluator=RolloutEvaluator(threads=1, seed=1))
    best, root = answer["moveInfos"][0], answer["rootInfo"]
    for value in (best["winrate"], root["winrate"], root["rawWinrate"]):
        assert value == pytest.approx(1 if sign > 0 else 0, abs=0.01)
    assert best["lcb"] < best["winrate"] if view in ("WHITE", "SIDETOMOVE") else best["lcb"] > best["winrate"]
    for value in (best["scoreLead"], root["scoreLead"], best["utility"], root["rawLead"], root["scoreSelfplay"]):
        assert value * sign > 0
    (black,) = converse(query | {"overrideSettings": {}}, evaluator=RolloutEvaluator(threads=1, seed=1))
    assert np.allclose(answer["ownership"], sign * np.array(black["ownership"]))


def test_turns_have_their_answers_and_hashes_know_symmetry() -> None:
    moves = [["B", "B4"], ["W", "C3"], ["B", "pass"]]
    answers = converse(BASE | {"id": "a", "moves": moves, "analyzeTurns": [0, 1, 3]})
    assert sorted(answer["turnNumber"] for answer in answers) == [0, 1, 3]
    mirrored = converse(BASE | {"id": "a", "moves": [["B", "D2"]]})[0]["rootInfo"]
    root = next(answer for answer in answers if answer["turnNumber"] == 1)["rootInfo"]
    assert root["symHash"] == mirrored["symHash"] and root["thisHash"] != mirrored["thisHash"]
    assert len({answer["rootInfo"]["symHash"] for answer in answers}) == 3


def test_warnings_come_with_answers() -> None:
    first, second = converse(BASE | {"id": "a", "colour": "b", "maxVisits": 1})
    assert (first["field"], first["id"]) == ("colour", "a") and "warning" in first
    assert (second["id"], second["moveInfos"]) == ("a", [])


def test_actions_echo_the_request() -> None:
    query = {"id": "v", "action": "query_version", "more": 1}
    assert converse(query)[0] | {"version": ""} == query | {"version": "", "git_hash": "<omitted>"}
    assert converse({"id": "m", "action": "query_models"})[0]["models"] == [{"name": "none"}]
    assert converse({"id": "c", "action": "clear_cache"}) == [{"id": "c", "action": "clear_cache"}]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"nonsense", "could not parse input line as json request: nonsense"),
        (b"[1]", "Request line was valid json but was not an object, ignoring: [1]"),
        (b"{}", 'Request must have a string "id" field'),
        (b'{"id":3}', 'Request must have a string "id" field'),
        (b"\xff\xfe", "could not parse input line"),
        (b"[" * 100_000, "brackets are nested more than 100 deep - could not parse input line"),
        (b'{"id":"a","komi":NaN}', "NaN is not a number in JSON"),
        (b'{"id":"a","komi":' + b"7" * 5000 + b"}", "value has 5000 digits"),
        (b'{"id":"a","action":"fly"}', "'action' field must be 'query_version' or"),
    ],
)
def test_lines_that_are_no_requests(line: bytes, text: str) -> None:
    error, answer = converse(line, BASE | {"id": "next", "maxVisits": 1})
    assert list(error) == ["error"] and text in error["error"]
    assert answer["id"] == "next"


def test_errors_name_field_and_query_and_the_rest_goes_on() -> None:
    bad = BASE | {"id": "bad", "boardXSize": 25}
    action = {"id": "t", "action": "terminate"}
    turns = {"id": "u", "action": "terminate_all", "turnNumbers": "all"}
    *errors, answer = converse(bad, b"", action, turns, BASE | {"id": "good"})
    named = [(error["id"], error["field"]) for error in errors]
    assert named == [("bad", "boardXSize"), ("t", "terminateId"), ("u", "turnNumbers")]
    assert answer["id"] == "good"


def test_whatever_is_wrong_with_a_query_the_next_one_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(fields: dict[str, Any], defaults: Defaults) -> Query:
        if fields["id"] == "bad":
            raise UserError("two fields do not go together")
        return parse_query(fields, defaults)

    monkeypatch.setattr(protocol, "parse_query", faulty)
    error, answer = converse(BASE | {"id": "bad"}, BASE | {"id": "good", "maxVisits": 1})
    assert error == {"error": "two fields do not go together", "id": "bad"}
    assert answer["id"] == "good"


def test_a_client_that_is_gone_ends_the_conversation_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    def write(text: str) -> None:
        raise RuntimeError("gone")

    defaults = Defaults(lambda *_: SearchParameters(), 9, QuerySettings(visits=30))
    inbox = waiting([BASE | {"id": "a", "unknown": 1}])
    with pytest.raises(RuntimeError, match="gone"):
        Conversation(OneScheduler(), defaults, inbox, write).run(wait_for_all=True)
    assert caplog.messages == []


def test_a_bug_in_one_answer_leaves_the_others_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(query: Any, *rest: Any, **options: Any) -> dict[str, Any]:
        if query.id == "bad":
            raise KeyError("lead")
        return answer(query, *rest, **options)

    monkeypatch.setattr(protocol, "answer", faulty)
    found = {given["id"]: given for given in converse(BASE | {"id": "bad"}, BASE | {"id": "good"})}
    assert found["bad"] == {"error": "internal error: KeyError: 'lead'", "id": "bad", "turnNumber": 0}
    assert "rootInfo" in found["good"]


def test_each_position_of_many_good_and_bad_queries_is_answered_once() -> None:
    random = Random(1)
    lines: list[object] = []
    expected: Counter[tuple[str, str]] = Counter()
    faults: list[dict[str, object]] = [{"komi": 0.3}, {"moves": 7}, {"rules": None}, {"analyzeTurns": [9]}]
    for number in range(500):
        name = f"q{number - number % 10 if number % 10 == 1 else number}"  # every tenth one comes twice
        query = BASE | {"id": name, "maxVisits": random.randint(1, 2), "moves": [["B", "C3"], ["W", "D3"]]}
        turns = random.sample(range(3), random.randint(1, 3))
        kind = random.choice(("answers", "answers", "error", "nameless"))
        if kind == "nameless":
            lines.append(random.choice((b"{", b"[]", b'{"id":7}', b"\xff", b'{"id":"a","action":"fly"}')))
            expected["", "error"] += 1
            continue
        lines.append(query | (random.choice(faults) if kind == "error" else {"analyzeTurns": turns}))
        expected[name, kind] += 1 if kind == "error" else len(turns)
    answers = converse(*lines)
    kinds = Counter((given.get("id", ""), "error" if "error" in given else "answers") for given in answers)
    assert kinds == expected
    assert all(given["rootInfo"]["visits"] >= 1 for given in answers if "error" not in given)


def test_terminate_ends_what_waits_and_what_runs() -> None:
    endless = [BASE | {"id": f"{number % 2}", "maxVisits": 2**50, "priority": -number} for number in range(8)]
    answers = converse(
        *endless, {"id": "t", "action": "terminate", "terminateId": "0"}, {"id": "u", "action": "terminate_all"}
    )
    assert [answer["id"] for answer in answers if "action" in answer] == ["t", "u"]
    results = [answer for answer in answers if "turnNumber" in answer]
    assert sorted(answer["id"] for answer in results) == ["0"] * 4 + ["1"] * 4
    assert all(answer.get("noResults") or answer["rootInfo"]["visits"] for answer in results)
    assert all(answer["isDuringSearch"] is False for answer in results)


def test_terminate_some_turns() -> None:
    query = BASE | {"id": "a", "moves": [["B", "C3"], ["W", "D3"]], "analyzeTurns": [0, 1, 2], "maxVisits": 5}
    answers = converse(query, {"id": "t", "action": "terminate", "terminateId": "a", "turnNumbers": [1]})
    assert {answer["turnNumber"] for answer in answers if answer.get("noResults")} == {1}


def test_higher_priorities_come_first() -> None:
    queries = [BASE | {"id": str(priority), "priority": priority} for priority in (0, 3, 1, 2)]
    assert [answer["id"] for answer in converse(*queries, slots=1)] == ["3", "2", "1", "0"]


def test_reports_on_the_way_are_marked() -> None:
    answers = converse(BASE | {"id": "a", "maxVisits": 3000, "reportDuringSearchEvery": 0.001})
    assert [answer["isDuringSearch"] for answer in answers] == [True] * (len(answers) - 1) + [False]
    assert len(answers) > 1


def test_the_first_report_may_come_earlier_and_alone() -> None:
    early = {"id": "a", "maxVisits": 3000, "firstReportDuringSearchAfter": 0.001}
    for more in ({}, {"reportDuringSearchEvery": 1000}):
        assert [answer["isDuringSearch"] for answer in converse(BASE | early | more)] == [True, False]


def test_avoided_moves_are_not_looked_at() -> None:
    avoided = [{"player": "B", "moves": ["C3", "pass"], "untilDepth": 1}]
    (answer,) = converse(BASE | {"id": "a", "avoidMoves": avoided, "maxVisits": 100, "includePolicy": True})
    assert not {"C3", "pass"} & {move["move"] for move in answer["moveInfos"]}
    assert min(answer["policy"]) >= 0


def test_mirror_images_are_listed_with_the_move_that_was_searched() -> None:
    override = {"rootSymmetryPruning": True}
    (answer,) = converse(BASE | {"id": "a", "maxVisits": 100, "includePVVisits": True, "overrideSettings": override})
    moves = {move["move"]: move for move in answer["moveInfos"]}
    assert len(moves) == len(answer["moveInfos"]) > 20
    images = {name: move for name, move in moves.items() if "isSymmetryOf" in move}
    assert sum(move["visits"] for name, move in moves.items() if name not in images) == 99
    best = answer["moveInfos"][0]["playSelectionValue"]
    for image in images.values():
        move = moves[image["isSymmetryOf"]]
        same = ("visits", "winrate", "lcb", "prior", "pvVisits", "playSelectionValue")
        assert [image[name] for name in same] == [move[name] for name in same]
        assert image["pv"][0] == image["move"] and image["playSelectionValue"] <= best


def test_where_nothing_is_allowed_there_is_the_evaluators_word() -> None:
    nothing = [{"player": "B", "moves": [], "untilDepth": 1}]
    (answer,) = converse(BASE | {"id": "a", "allowMoves": nothing, "maxVisits": 9}, evaluator=RolloutEvaluator(seed=1))
    assert (answer["moveInfos"], answer["rootInfo"]["rawWinrate"]) == ([], pytest.approx(answer["rootInfo"]["winrate"]))


def test_a_network_says_how_sure_it_is() -> None:
    """Against what KataGo's kata-raw-nn said of the same position."""
    record = json.loads((NETWORKS / "tiny.jsonl").read_text().splitlines()[0])
    evaluator = NetworkEvaluator(NETWORKS / "tiny.bin.gz", precision="float32", device="cpu")
    query = {"id": "a", "moves": [], "rules": record["rules_full"], "komi": record["komi"], "maxVisits": 1}
    (answer,) = converse(query | {"boardXSize": 9, "boardYSize": 9}, evaluator=evaluator)
    root, said = answer["rootInfo"], record["outputs"]
    assert root["rawStWrError"] == pytest.approx(said["shorttermWinlossError"] / 2, abs=5e-4)
    assert root["rawStScoreError"] == pytest.approx(said["shorttermScoreError"], abs=1.5e-3)
    assert root["rawVarTimeLeft"] == pytest.approx(said["varTimeLeft"], abs=1.5e-3)


def test_the_roots_weight_is_that_of_its_evaluations() -> None:
    evaluator = NetworkEvaluator(NETWORKS / "tiny.bin.gz", precision="float32", device="cpu")
    query = BASE | {"overrideSettings": {"uncertaintyCoeff": 0.25}, "boardXSize": 9, "boardYSize": 9}
    one, many = converse(
        query | {"id": "one", "maxVisits": 1}, query | {"id": "many", "maxVisits": 30}, evaluator=evaluator, slots=1
    )
    moves = sum(move["weight"] for move in many["moveInfos"])
    assert many["rootInfo"]["weight"] == pytest.approx(one["rootInfo"]["weight"] + moves)
    assert many["rootInfo"]["weight"] != pytest.approx(30, abs=0.5)


def test_without_a_network_nobody_says_that() -> None:
    root = converse(BASE | {"id": "a", "maxVisits": 1})[0]["rootInfo"]
    assert [root[name] for name in ("rawStWrError", "rawStScoreError", "rawVarTimeLeft")] == [-0.5, -1, -1]


def test_quitting_without_waiting() -> None:
    assert converse(BASE | {"id": "a", "maxVisits": 2**50}, wait_for_all=False) == []


def test_reading_waits_while_too_many_positions_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    most: list[int] = []

    feed = Conversation._feed

    def watched(self: Conversation) -> None:
        most.append(len(self._waiting))
        feed(self)

    monkeypatch.setattr(protocol, "MOST_WAITING", 12)
    monkeypatch.setattr(Conversation, "_feed", watched)
    assert len(converse(*(BASE | {"id": str(number), "maxVisits": 2} for number in range(100)))) == 100
    assert max(most) == 12


def test_the_policy_of_humans_is_part_of_the_last_answer() -> None:
    class WithHumans(OneScheduler):
        def human_policy(self, game: Game, profile: str) -> np.ndarray:
            assert (game.area, profile) == (25, "rank_5k")
            return np.full(26, 1 / 26, np.float32)

    query = BASE | {"id": "a", "moves": [["B", "C3"]], "includePolicy": True, "maxVisits": 2}
    wished = query | {"overrideSettings": {"humanSLProfile": "rank_5k"}}
    answers = converse(wished, query | {"id": "b"}, schedulers=WithHumans(), has_human_model=True)
    found = {answer["id"]: answer for answer in answers}
    policy = found["a"]["humanPolicy"]
    assert [index for index, prior in enumerate(policy) if prior == -1] == [12]  # the stone on C3
    assert policy[0] == policy[25] == pytest.approx(1 / 26)
    assert "humanPolicy" not in found["b"]


@pytest.mark.parametrize("moves", ["E5 C3", "E5 pass", "E5 pass pass"])
def test_humans_are_asked_about_the_position_that_a_search_begins_with(moves: str) -> None:
    human = NETWORKS / "human.bin.gz"
    game = Game(9, rules="tromp-taylor")
    for name in moves.split():
        game.play(game.to_move, name)
    settings = EngineSettings(network="uniform", device="cpu", precision="float32")
    with closing(Schedulers(settings, str(human))) as schedulers:
        policy = schedulers.human_policy(game, "rank_5k")
        assert [(model["name"], model["usesHumanSLProfile"]) for model in schedulers.models()] == [(str(human), True)]
    evaluator = NetworkEvaluator(human, device="cpu", precision="float32")
    search = Search(evaluator, SearchParameters(profile="rank_5k"))
    root = run_search(search, SearchRequest(game, Limits(visits=1))).root_evaluation
    assert policy is not None and root is not None
    assert np.allclose(policy, root.policy, atol=1e-6)

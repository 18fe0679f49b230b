"""`kata-raw-nn` and a network under the program: KataGo's recorded answers, form, what is refused."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conversation import Conversation

from gtp_engine.clients.gtp.game_commands import raw_text
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.batch import Evaluation
from gtp_engine.search.evaluate.row import UNKNOWN, EvaluationRow

NETWORKS = Path(__file__).resolve().parents[1] / "data" / "networks"
SCORES = ("whiteLead", "whiteScoreSelfplay", "whiteScoreSelfplaySq", "varTimeLeft", "shorttermScoreError")
# Three decimals were recorded of these.
ROUNDED = 5e-4

Record = dict[str, Any]


def records(file: Path) -> list[Record]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def commands(record: Record) -> Iterator[str]:
    """What leads to the position and asks for it."""
    yield f"boardsize {record['size'][0]} {record['size'][1]}"
    yield f"kata-set-rules {json.dumps(record['rules_full'])}"
    yield f"komi {record['komi']}"
    if "setup" in record:
        yield "set_position " + " ".join(f"{colour} {name}" for colour, name in record["setup"])
    if "handicap" in record:
        yield "set_free_handicap " + " ".join(record["handicap"])
    for colour, name in record["moves"]:
        yield f"play {colour} {name}"
    yield f"kata-raw-nn {record['to_move']} {record['symmetry']}"


def parse(text: str) -> dict[str, list[float]]:
    """Numbers by the word before them."""
    found: dict[str, list[float]] = {}
    for word in text.split():
        if word[0].isalpha() and word != "NAN":
            name = word
            found[name] = []
        else:
            found[name].append(math.nan if word == "NAN" else float(word))
    return found


def check(text: str, record: Record) -> None:
    found = parse(text)
    assert found.pop("symmetry") == [record["symmetry"]]
    assert set(found) == set(record["outputs"])
    for name, value in record["outputs"].items():
        is_grid = name in ("policy", "whiteOwnership")
        expected = [number for row in value for number in row] if is_grid else [value]
        numbers = [math.nan if number is None else number for number in expected]
        near = {"rel": 1e-3, "abs": 1e-3 + ROUNDED} if name in SCORES else {"rel": 0, "abs": 1e-4}
        if name == "shorttermWinlossError":
            near["abs"] += ROUNDED
        assert found[name] == pytest.approx(numbers, nan_ok=True, **near), (record["id"], name)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    file = str(NETWORKS / "tiny.bin.gz")
    options = ("--network", file, "--precision", "float32", "--threads", "1", "--visits", "20", "-v")
    conversation = Conversation(tmp_path_factory.mktemp("raw") / "stderr", *options)
    yield conversation
    conversation.close()


def ask(conversation: Conversation, record: Record) -> str:
    lines = list(commands(record))
    conversation.send(*lines)
    responses = [conversation.response() for _ in lines]
    assert all(response.startswith("=") for response in responses), responses
    return responses[-1].removeprefix("= ")


def test_katagos_answers_for_our_own_network(tiny: Conversation) -> None:
    for record in records(NETWORKS / "tiny.jsonl"):
        check(ask(tiny, record), record)


def test_all_symmetries_and_optimism(tiny: Conversation) -> None:
    for command in ("boardsize 9 7", "kata-set-rules japanese", "play b C3", "play w D4"):
        tiny.ask(command)
    every = tiny.ask("kata-raw-nn ALL")
    singles = [tiny.ask(f"kata-raw-nn {symmetry}") for symmetry in range(8)]
    assert every == "\n".join(singles)
    assert len({text.partition("\n")[2] for text in singles}) == 4  # rectangular boards are never transposed
    assert parse(tiny.ask("kata-raw-nn 0 0.2")) == parse(singles[0])
    assert parse(tiny.ask("kata-raw-nn 0 1"))["policy"] != parse(singles[0])["policy"]
    plain = parse(tiny.ask("kata-raw-nn 0 0.0"))
    assert plain["policy"] != parse(singles[0])["policy"]
    assert plain["whiteLead"] == parse(singles[0])["whiteLead"]


def test_the_models_are_listed_as_by_katago(tiny: Conversation) -> None:
    (model,) = json.loads(tiny.ask("kata-get-models"))
    assert (model["name"], model["usesHumanSLProfile"], model["usingFP16"]) == ("tiny", False, "false")
    assert model["version"] >= 8 and model["maxBatchSize"] >= 1
    assert "does not imitate humans" in tiny.fail("kata-raw-human-nn 0")


def test_it_starts_as_katago_gtp(start: Callable[..., Conversation], tmp_path: Path) -> None:
    overrides = "maxVisits=7,allowResignation=false, ponderingEnabled=true,cpuctExploration=1.5,numSearchThreads=6"
    katago = ("-model", str(NETWORKS / "tiny.bin.gz"), "-config", "my.cfg", "-override-config", overrides)
    conversation = start(*katago, "--threads", "1", "--board-size", "9")
    names = {"visits": "7", "resign": "false", "ponderingEnabled": "true", "c_puct": "1.5", "allowResignation": "false"}
    assert {name: conversation.ask(f"kata-get-param {name}") for name in names} == names
    conversation.ask("kata-set-param allowResignation true")
    assert conversation.ask("kata-get-param resign") == "true"
    assert "are ignored: numSearchThreads" in conversation.log() and "my.cfg is not read" in conversation.log()


def test_what_a_network_that_imitates_humans_outputs(start: Callable[..., Conversation]) -> None:
    human = start("--network", str(NETWORKS / "human.bin.gz"), "--set", "profile=rank_5k", "--board-size", "9")
    assert human.ask("kata-raw-human-nn 0") == human.ask("kata-raw-nn 0")
    assert json.loads(human.ask("kata-get-models"))[0]["usesHumanSLProfile"]


def test_other_colour_forgets_the_history(tiny: Conversation) -> None:
    for command in ("boardsize 9", "kata-set-rules chinese", "play b C3", "play w D4"):
        tiny.ask(command)
    own, other = tiny.ask("kata-raw-nn b 0"), tiny.ask("kata-raw-nn w 0")
    assert own == tiny.ask("kata-raw-nn 0") != other
    for command in ("clear_board", "set_position b C3 w D4"):
        tiny.ask(command)
    assert other == tiny.ask("kata-raw-nn w 0")


@pytest.mark.parametrize("arguments", ["", "8", "-1", "b", "0 2", "0 -0.1", "0 0.5 1", "x", "all all", "0 nan"])
def test_refused(tiny: Conversation, arguments: str) -> None:
    assert tiny.fail(f"kata-raw-nn {arguments}") == "syntax error"


def test_a_board_that_is_too_large(tiny: Conversation) -> None:
    tiny.ask("boardsize 20")
    assert tiny.fail("kata-raw-nn 0") == "the network tiny plays on boards up to 19x19"
    assert tiny.ask("genmove b")
    log = tiny.log()
    assert log.count("tiny plays on boards up to 19x19: larger ones are played by rollouts") == 1
    assert "gtp_engine: tiny: cpu, float32, 1 thread, batches of 4\n" in log


@pytest.mark.parametrize(
    ("network", "name"), [(str(NETWORKS / "tiny.bin.gz"), "tiny"), ("auto", "b10c384h6nbttflrs-int8")]
)
def test_strictly_no_rollouts(start: Callable[..., Conversation], network: str, name: str) -> None:
    conversation = start("--network", network, "--strict", "--visits", "4", "--threads", "1")
    reason = "the network plays on boards up to 19x19; choose a smaller board, or start without --strict"
    assert conversation.fail("boardsize 20") == f"unacceptable size 20x20: {reason}"
    assert conversation.ask("boardsize 9") == ""
    assert conversation.ask("genmove b")
    record = conversation.stderr.parent / "large.sgf"
    record.write_text("(;SZ[21])")
    assert conversation.fail(f"loadsgf {record}") == "cannot load file"
    assert f"unacceptable size 21x21: {reason}\n" in conversation.log()
    assert conversation.ask("genmove b")


def test_katagos_outputs_for_a_profile_that_changes_in_mid_game(start: Callable[..., Conversation]) -> None:
    options = "--precision", "float32", "--threads", "1", "--visits", "20"
    conversation = start("--network", str(NETWORKS / "human.bin.gz"), *options)
    unnamed = "human imitates humans: choose a profile with --profile"
    assert conversation.fail("genmove b").startswith(unnamed)
    assert f"cannot load the evaluator: {unnamed}" in conversation.log()
    for record in records(NETWORKS / "human.jsonl"):
        conversation.ask(f"kata-set-param humanSLProfile {record['profile']}")
        check(ask(conversation, record), record)
    assert conversation.ask("kata-get-param humanSLProfile") == record["profile"]
    assert conversation.ask("genmove b")
    assert conversation.fail("kata-set-param humanSLProfile none").startswith(unnamed)
    assert conversation.fail("kata-set-param humanSLProfile 5k").startswith("unknown profile '5k': expected rank_20k")
    assert conversation.ask("genmove w")


def test_a_network_that_does_not_imitate_humans(tiny: Conversation) -> None:
    refused = "tiny does not imitate humans: profiles such as rank_5k are for networks trained on human games"
    assert tiny.fail("kata-set-param humanSLProfile rank_5k") == refused
    assert tiny.ask("kata-get-param humanSLProfile") == ""


def test_without_a_network(engine: Conversation) -> None:
    assert engine.fail("kata-raw-nn 0") == "this needs a network: start the engine with --network NAME"
    assert engine.fail("kata-raw-nn") == "syntax error"
    needed = "the profile rank_5k needs a human-trained --network, such as b18c384nbt-humanv0"
    assert engine.fail("kata-set-param humanSLProfile rank_5k") == needed


def test_a_file_that_is_not_a_network(start: Callable[..., Conversation], tmp_path: Path) -> None:
    """It is found at the start but loaded in the background; every command that needs it reports the reason."""
    for content, reason in (
        (b"nonsense", "not a KataGo network"),
        ((NETWORKS / "tiny.bin.gz").read_bytes()[:-1000], "the file is cut short; download it again"),
    ):
        file = tmp_path / "bad.bin.gz"
        file.write_bytes(content)
        conversation = start("--network", str(file))
        assert conversation.ask("name") == "gtp_engine"
        failing = ("genmove b", "kata-raw-nn 0", "gtp_engine-ownership", "kata-genmove_analyze b 50", "lz-analyze 10")
        for command in failing:
            assert conversation.fail(command).startswith(f"{file}: {reason}"), command
        assert conversation.fail("final_score") == "cannot score"
        assert f"final_score: {file}: {reason}" in conversation.log()
        assert conversation.log().count("cannot load the evaluator: ") == 1
        assert conversation.ask("kata-get-param visits") == "none"


def test_white_stands_for_the_side_that_is_named() -> None:
    def text(to_move: int) -> dict[str, list[float]]:
        game = Game(2)
        game.set_up(["B2"], [], to_move)
        values = (0.7, 0.2, 0.1, 3.0, 2.0, 5.0, UNKNOWN, UNKNOWN, UNKNOWN)
        policy, ownership = (0.5, 0, 0.25, 0.125, 0.125), (1, 0.5, -0.25, 0)
        row = EvaluationRow(np.array((*values, *policy, *ownership), np.float32), game.area)
        return parse(raw_text(2, Evaluation(game, row)))

    black, white = text(BLACK), text(WHITE)
    assert (black["whiteWin"], black["whiteLoss"], black["noResult"]) == ([0.2], [0.7], [0.1])
    assert (white["whiteWin"], white["whiteLoss"], white["noResult"]) == ([0.7], [0.2], [0.1])
    for name, sign in (("whiteLead", -1), ("whiteScoreSelfplay", -1), ("whiteScoreSelfplaySq", 1), ("policyPass", 1)):
        assert black[name][0] == sign * white[name][0]
    assert black["whiteOwnership"] == [-1, -0.5, 0.25, 0]
    assert white["policy"] == pytest.approx([0.5, math.nan, 0.25, 0.125], nan_ok=True)
    # KataGo does not output these for networks without errors.
    assert white["varTimeLeft"] == white["shorttermWinlossError"] == white["shorttermScoreError"] == [-1]


@pytest.mark.slow
def test_katagos_answers_for_its_own_network(start: Callable[..., Conversation], shared: Path) -> None:
    network = shared / "katago" / "nets" / "g170-b6c96-s175395328-d26788732.bin.gz"
    if not network.is_file():
        pytest.skip(f"there is no {network}")
    conversation = start("--network", str(network), "--precision", "float32")
    recorded = records(shared / "katago" / "golden" / "b6c96.jsonl")
    some = [record for record in recorded if record.get("preventCleanupPhase", True)][::7]
    assert {r["to_move"] for r in some} == {"B", "W"}
    assert any(r["rules_full"]["scoring"] == "TERRITORY" for r in some)
    for record in some:
        check(ask(conversation, record), record)

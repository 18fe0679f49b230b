"""Sends a great many small and strange JSON queries to one `gtp_engine analysis` process and checks the answers.

Queries of one or two visits on boards of 5x5 to 9x9, several turns of some games, mixed with wrong fields, text that is
not JSON, boards too large for a network, identifiers used twice, and actions. A failure is a position that is not
answered exactly once, an answer to no query, a missing error, 60 s of silence, a stderr line about
a query, or an exit status other than 0. Line N of a seed is always the same.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import IO, Any

from fingerprint import PACKAGE

BLOCK = 1000  # lines of one generator
WINDOW = 2000  # lines without all their answers
SILENCE_SECONDS = 60.0
START_SECONDS = 600.0  # the first start compiles the core
LETTERS = "ABCDEFGHJ"
RULES = ("chinese", "japanese", "tromp-taylor", "aga-button", "stone-scoring", {"ko": "SIMPLE", "scoring": "AREA"})
FLAGS = (
    *("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includePolicy", "includePVVisits"),
    "includeNoResultValue",
)
# Each makes a good query a bad one.
FAULTS: tuple[dict[str, Any], ...] = (
    {"boardXSize": 0},
    {"boardYSize": 26},
    {"boardXSize": "9"},
    {"rules": "kyu"},
    {"rules": None},
    {"komi": 0.3},
    {"komi": 1e9},
    {"maxVisits": 0},
    {"maxVisits": 1.5},
    {"moves": 7},
    {"moves": [["B", "Z99"]]},
    {"moves": [["B", "C3"], ["W", "C3"]]},
    {"moves": [["green", "C3"]]},
    {"initialStones": [["B", "pass"]]},
    {"initialPlayer": "x"},
    {"analyzeTurns": [10**6]},
    {"analyzeTurns": "all"},
    {"priority": 2**70},
    {"priorities": [1]},
    {"includePolicy": 1},
    {"overrideSettings": []},
    {"overrideSettings": {"cpuctExploration": -1}},
    {"overrideSettings": {"humanSLProfile": "rank_99k"}},
    {"avoidMoves": {}},
    {"avoidMoves": [], "allowMoves": []},
    {"allowMoves": [{"player": "B", "moves": ["A1"], "untilDepth": 0}]},
    {"reportDuringSearchEvery": 0},
)
NO_REQUESTS = (
    b"{",
    b"[]",
    b"7",
    b'"x"',
    b"nonsense",
    b"{}",
    b'{"id":7}',
    b"\xff\xfe",
    b'{"id":"a","action":"fly"}',
    b"[" * 9999,
)


class FuzzError(Exception):
    """The engine misbehaved."""


def good_query(number: int, random: Random) -> dict[str, Any]:
    """Returns a query that is answered once for each of its turns."""
    width, height = random.randint(5, 9), random.randint(5, 9)
    points = [f"{letter}{row}" for letter in LETTERS[:width] for row in range(1, height + 1)]
    # No two of them are neighbours: nothing is captured, no move is suicide.
    places = random.sample([p for p in points if (LETTERS.index(p[0]) + int(p[1])) % 2], random.randint(0, 6))
    query: dict[str, Any] = {
        # Every tenth identifier comes twice.
        "id": f"q{number - number % 10 if number % 10 == 1 else number}",
        "boardXSize": width,
        "boardYSize": height,
        "rules": random.choice(RULES),
        "maxVisits": random.choice((1, 1, 2)),
        "moves": [["BW"[index % 2], place] for index, place in enumerate(places)],
    }
    if random.random() < 0.3:
        query["analyzeTurns"] = random.sample(range(len(places) + 1), random.randint(1, len(places) + 1))
    if random.random() < 0.1:
        query["priority"] = random.randint(-3, 3)
    if random.random() < 0.1:
        query[random.choice(("avoidMoves", "allowMoves"))] = [
            {"player": "B", "moves": random.sample(points, random.randint(0, 3)), "untilDepth": random.randint(1, 3)}
        ]
    for flag in FLAGS:
        if random.random() < 0.05:
            query[flag] = True
    return query


def line_of(number: int, random: Random, faults: tuple[dict[str, Any], ...]) -> tuple[bytes, str, int]:
    """Returns a line, what is expected ("answers", "error", "action" or "nameless error"), and how many answers."""
    chance = random.random()
    if chance < 0.02:
        return random.choice(NO_REQUESTS), "nameless error", 1
    if chance < 0.07:
        action: dict[str, Any] = {"id": f"a{number}", "action": random.choice(("query_version", "query_models"))}
        if chance < 0.025:
            action["action"] = "clear_cache"
        elif chance < 0.04:
            action |= {"action": "terminate", "terminateId": f"q{max(0, number - random.randint(0, 300))}"}
        elif chance < 0.0402:
            action["action"] = "terminate_all"
        return json.dumps(action).encode(), "action", 1
    query = good_query(number, random)
    if chance < 0.2:
        query.pop("analyzeTurns", None)  # with it some of the faults would be valid
        query = query | {"id": f"e{number}"} | random.choice(faults)
        return json.dumps(query).encode(), "error", 1
    turns = query.get("analyzeTurns", [0])
    return json.dumps(query).encode(), "answers", len(turns)


class Engine:
    """The process, with the answers it owes: how many of each identifier and kind."""

    def __init__(self, network: str) -> None:
        command = [sys.executable, "-m", "gtp_engine", "analysis", "--network", network, "--threads", "1"]
        path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
        pipe = subprocess.PIPE
        environment = os.environ | {"PYTHONPATH": path}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        assert self.process.stdout is not None and self.process.stderr is not None
        self.owed: Counter[tuple[str, str]] = Counter()
        self.total = 0
        self.has_answered = False
        self.bad_log = ""
        self._answers: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True).start()

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._answers.put(line)
        self._answers.put(None)

    def _read_log(self, stderr: IO[bytes]) -> None:
        for raw in stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if not line.startswith("gtp_engine: ") or "query" in line:
                self.bad_log = self.bad_log or line

    def send(self, line: bytes, kind: str, count: int) -> None:
        """Sends a line; first reads answers if too many are outstanding."""
        assert self.process.stdin is not None
        name = json.loads(line)["id"] if kind != "nameless error" else ""
        self.owed[name, kind] += count
        self.total += count
        try:
            self.process.stdin.write(line + b"\n")
            if self.total >= WINDOW:
                self.process.stdin.flush()
        except OSError:
            raise FuzzError(f"the process ended before {line[:200]!r}") from None
        while self.total >= WINDOW:
            self.receive()

    def receive(self) -> None:
        """Takes one answer off what is owed."""
        try:
            line = self._answers.get(timeout=SILENCE_SECONDS if self.has_answered else START_SECONDS)
        except queue.Empty:
            raise FuzzError(f"silence; owed: {list(self.owed.items())[:5]}") from None
        if line is None:
            raise FuzzError(f"the output ended; owed: {list(self.owed.items())[:5]}")
        self.has_answered = True
        answer = json.loads(line)
        if "warning" in answer:
            return
        name = answer.get("id", "")
        kind = "action" if "action" in answer else "error" if "error" in answer else "answers"
        if not name:
            kind = "nameless error"
        if not self.owed[name, kind]:
            raise FuzzError(f"nobody asked for {line[:300]!r}")
        if kind == "answers" and not (answer.get("noResults") or answer["rootInfo"]["visits"] >= 1):
            raise FuzzError(f"an answer without a search: {line[:300]!r}")
        self.owed[name, kind] -= 1
        self.total -= 1
        if not self.owed[name, kind]:
            del self.owed[name, kind]
        if self.bad_log:
            raise FuzzError(f"on stderr: {self.bad_log}")

    def end(self) -> None:
        """Takes all answers that are owed, and ends the process by the end of its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        while self.total:
            self.receive()
        if self._answers.get(timeout=SILENCE_SECONDS) is not None:
            raise FuzzError("an answer too many at the end")
        if (status := self.process.wait(SILENCE_SECONDS)) != 0 or self.bad_log:
            raise FuzzError(f"exit status {status}, stderr {self.bad_log!r}")

    def memory(self) -> int:
        """Returns the resident MiB, 0 if the system does not report them."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE") >> 20


def fuzz(lines: int, seed: int, network: str) -> None:
    """Sends `count` lines to one process; raises FuzzError if it misbehaves."""
    faults = FAULTS if network == "none" else (*FAULTS, {"boardXSize": 25, "boardYSize": 25})
    engine = Engine(network)
    number = 0
    begun = time.monotonic()
    try:
        for number in range(lines):
            if number % BLOCK == 0:
                random = Random(f"{seed}/{number // BLOCK}")
            if number and number % (50 * BLOCK) == 0:
                rate = number / (time.monotonic() - begun)
                print(f"{number:9,} lines, {rate:,.0f} a second, {engine.memory()} MiB", flush=True)
            engine.send(*line_of(number, random, faults))
        engine.end()
    except FuzzError as error:
        raise FuzzError(f"line {number:,}: {error}") from None
    finally:
        engine.process.kill()
        engine.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000, help="default: 1,000,000")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--network", default="none", help="default: none, random rollouts")
    options = parser.parse_args()
    try:
        fuzz(options.lines, options.seed, options.network)
    except FuzzError as error:
        sys.exit(f"failed: {error}")
    print(f"{options.lines:,} lines, every answer once")


if __name__ == "__main__":
    main()

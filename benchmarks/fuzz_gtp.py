"""Sends a great many strange lines to one `gtp_engine gtp` process and checks that each command gets its response.

    python benchmarks/fuzz_gtp.py [--lines 1000000] [--seed 1] [--first 0]

Lines are random bytes, commands, and commands with bytes changed, some of them a megabyte long; one visit a move, in a
temporary folder. A failure is a response that is missing, out of order or malformed, an internal error, a traceback, a
stderr line that a client could take for GTP, 60 s of silence, or the end of the process. Line N of a seed is always the
same; `--first N` begins there.
"""

import argparse
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import IO

from kept_results import PACKAGE

import gtp_engine.clients.gtp.program_commands  # noqa: F401  (which registers the commands)
from gtp_engine.clients.gtp.session import COMMANDS as GTP_COMMANDS

BLOCK = 1000  # lines of one generator
WINDOW = 300  # commands without a response yet
WINDOW_BYTES = 4_000_000
SILENCE_SECONDS = 60.0
REPORT_EVERY = 10_000  # lines

# Commands that take long, or none of whose arguments may be of any kind; the others are also sent with random ones.
RARE = [
    "final_score",
    "final_status_list {t}",
    "gtp_engine-ownership",
    "time_settings {n} {n} {n}",
    "kgs-time_settings {k} {n} {n} {n}",
    "kata-time_settings {k} {x} {x}",
    "time_left {c} {n} {n}",
    "quit",
]
COMMANDS = [
    *["play {c} {v}"] * 12,
    *["genmove {c}"] * 4,
    *["undo"] * 3,
    *["boardsize {small}"] * 2,
    *["clear_board"] * 2,
    "rectangular_boardsize {small} {small}",
    "set_position {s}",
    "gogui-play_sequence {s}",
    "set_free_handicap {v} {v} {v}",
    "kata-analyze {c} {n} ownership true rootInfo true pvVisits true",
    "kata-analyze interval {n} movesOwnership true ownershipStdev true maxmoves {n}",
    "kata-analyze {c} avoid {c} {v},{v},{v} {n}",
    "kata-analyze allow {c} {v} {n} interval {n}",
    "kata-genmove_analyze {c} ownership true",
    "kata-set-rules {r}",
    'kata-set-rules {{"ko":"{w}","suicide":{w}}}',
    'kata-set-params {{"c_puct":{x}}}',
    "loadsgf {f} {n}",
    "printsgf {f}",
    *sorted({*GTP_COMMANDS} - {command.split()[0] for command in RARE}),
]
ARGUMENTS = ("", "", "{n}", "{c}", "{v}", "{x}", "{w}", "{w}", "{f}", "{r}", "{k}")
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZI"
# The arguments that stand for each letter, with spaces between them.
CHOICES = {
    "c": "b w B W black white White green",
    "n": "0 1 2 3 5 7 9 10 13 19 25 26 -1 007 2147483648 1e3 x " + "9" * 30,
    "x": "0 0.5 6.5 7.5 -3 375 1e9 1e-9 nan inf -inf 1e999 . 1_0 0x10 7,5",
    "w": "true false SIMPLE POSITIONAL c_puct visits maxTime reuse_tree play quit info = # {} [] null - --help "
    "\u00e4\u00df \u2028 b pass resign ->",
    "small": "2 3 4 5 5 7 7 9 9 9",
    "r": "chinese japanese tromp-taylor aga korean new-zealand stone-scoring aga-button kyu",
    "f": "game.sgf cut.sgf none.sgf \u00e9.sgf a .",
    "t": "alive dead seki asleep",
    "k": "none absolute canadian byoyomi fischer fischer-capped sundial",
}


class FuzzError(Exception):
    """The engine misbehaved."""


def fill(template: str, random: Random) -> str:
    """Returns a command made from a template, with random arguments."""

    def vertex() -> str:
        if random.random() < 0.1:
            return random.choice(["pass", "PASS", "resign", "a0", "z99", "i5", "d", "4d"])
        return f"{random.choice(LETTERS[: random.choice((5, 9, 26))])}{random.randint(1, random.choice((5, 9, 25)))}"

    values = {key: random.choice(choices.split(" ")) for key, choices in CHOICES.items()}
    stones = " ".join(f"{random.choice('bw')} {vertex()}" for _ in range(random.randint(0, 12)))
    return template.format(**values, v=vertex(), s=stones)


def mutate(line: bytes, random: Random) -> bytes:
    """Returns a line with a few bytes changed, dropped, doubled or inserted."""
    data = bytearray(line)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(data))
        kind = random.randint(0, 5)
        if kind == 0:
            data[place:place] = random.randbytes(random.randint(1, 4))
        elif kind == 1:
            del data[place : place + random.randint(1, 5)]
        elif kind == 2:
            data[place:place] = data[: random.randint(0, 20)]
        elif kind == 3:
            data[place:place] = random.choice(
                [b" ", b"\t", b"\r", b"\0", b"#", b"-", b"9", b"\x7f", b"\xff", b"=", b","]
            )
        elif kind == 4:
            data = data[:place]
        else:
            data += b" " + random.choice(CHOICES["w"].split(" ")).encode()
    return bytes(data)


def long_line(random: Random) -> bytes:
    """Returns a line of a megabyte."""
    size = random.randint(900_000, 1_100_000)
    start = random.choice(
        [b"play ", b"set_position ", b"7 ", b"kata-set-rules {", b"kgs-chat game x ", b"loadsgf ", b""]
    )
    part = random.choice(
        [b"b D4 ", b"9", b"a", b"[", b"{", b" ", b"\0", b"#", b"\xff", b"w pass ", random.randbytes(997)]
    )
    return start + part * (size // len(part))


def raw_line(random: Random) -> bytes:
    """Returns a line of any kind."""
    chance = random.random()
    if chance < 0.0002:
        return long_line(random)
    if chance < 0.15:
        return random.randbytes(random.randint(0, 80))
    if chance < 0.18:
        return random.choice([b"", b" ", b"\r", b"# interrupt", b"#", b"12", b"\t", b"\0"])
    template = random.choice(RARE if random.random() < 0.01 else COMMANDS)
    if template in GTP_COMMANDS:
        template = " ".join([template, *random.choices(ARGUMENTS, k=random.randint(0, 3))])
    line = fill(template, random).encode()
    if random.random() < 0.5:
        line = str(random.choice([0, 1, random.randint(0, 2**31 - 1)])).encode() + b" " + line
    return mutate(line, random) if random.random() < 0.35 else line


def parse(line: bytes) -> tuple[str, str] | None:
    """Returns id and name of a line's command by the specification, None for an empty line."""
    kept = bytes(byte for byte in line if (byte >= 32 and byte != 127) or byte == 9)
    words = [word for word in re.split(rb"[ \t]+", kept.split(b"#")[0]) if word]
    if not words:
        return None
    is_id = re.fullmatch(rb"0*[0-9]{1,10}", words[0]) is not None and int(words[0][-11:]) < 2**31
    number = str(int(words[0])) if is_id else ""
    name = words[1:2] if is_id else words[:1]
    return number, name[0].decode("utf-8", "replace") if name else ""


def lines_from(first: int, seed: int, reset: bytes) -> Iterator[list[bytes]]:
    """Yields line `first` and all after it, each followed by `reset` if it may have changed the limits of a move."""
    number = first
    while True:
        random = Random(f"{seed}/{number // BLOCK}")
        block = [raw_line(random) for _ in range(BLOCK)]
        for line in block[number % BLOCK :]:
            number += 1
            # The folder is the engine's own: no paths out of it. `quit` is the one command that has to wait.
            line = line.translate(bytes.maketrans(b"/\\\n", b"___"))
            command = parse(line)
            if command is not None and command[1] == "quit":
                line = b"name"
            yield [line, reset] if b"param" in line else [line]


class Engine:
    """The process with the responses it owes."""

    def __init__(self, folder: Path) -> None:
        fast = ["--network", "none", "--visits", "1", "--threads", "1", "--seed", "1"]
        command = [sys.executable, "-m", "gtp_engine", "gtp", *fast]
        path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
        pipe = subprocess.PIPE
        environment = os.environ | {"PYTHONPATH": path}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environment)
        assert self.process.stdout is not None and self.process.stderr is not None
        self.responses: queue.Queue[list[str] | None] = queue.Queue()
        self.owed: deque[tuple[str, bytes]] = deque()
        self.owed_bytes = 0
        self.bad_log = ""
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        self._log_reader = threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True)
        self._log_reader.start()

    def _read(self, stdout: IO[bytes]) -> None:
        lines: list[str] = []
        for raw in stdout:
            line = raw[:-1].decode("utf-8", "replace")
            if line:
                lines.append(line)
            else:
                self.responses.put(lines)
                lines = []
        self.responses.put(lines or None)

    def _read_log(self, stderr: IO[bytes]) -> None:
        for raw in stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if not line.startswith("gtp_engine: ") or " -> " in line or "internal error" in line:
                self.bad_log = self.bad_log or line

    def send(self, line: bytes) -> None:
        """Sends a line; first waits for responses if too many are outstanding."""
        assert self.process.stdin is not None
        command = parse(line)
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise FuzzError(f"the process ended before {line[:200]!r}") from None
        if command is not None:
            self.owed.append((command[0], line))
            self.owed_bytes += len(line)
        while len(self.owed) > WINDOW or self.owed_bytes > WINDOW_BYTES:
            self.receive()

    def receive(self) -> list[str]:
        """Returns the response to the oldest command without one."""
        number, line = self.owed[0]
        try:
            response = self.responses.get(timeout=SILENCE_SECONDS)
        except queue.Empty:
            raise FuzzError(f"silence after {line[:200]!r}") from None
        if response is None:
            raise FuzzError(f"the output ended at {line[:200]!r}")
        if not response or not re.match(rf"[=?]{number}( |$)", response[0]):
            raise FuzzError(f"{line[:200]!r} was answered by {response[:3]!r}")
        if "internal error" in response[0]:
            raise FuzzError(f"{line[:200]!r}: {response[0]}")
        if self.bad_log:
            raise FuzzError(f"about {line[:200]!r} on stderr: {self.bad_log}")
        self.owed.popleft()
        self.owed_bytes -= len(line)
        return response

    def ask(self, command: bytes) -> str:
        """Sends a line; returns the text of its response, after all outstanding ones."""
        self.send(command)
        while len(self.owed) > 1:
            self.receive()
        return "\n".join(self.receive())[1:].strip()

    def end(self) -> None:
        """Ends the process in the ordinary way."""
        self.ask(b"quit")
        status = self.process.wait(SILENCE_SECONDS)
        self._log_reader.join(SILENCE_SECONDS)
        if status != 0 or self.bad_log:
            raise FuzzError(f"quit: exit status {status}, stderr {self.bad_log!r}")


def fuzz(first: int, count: int, seed: int) -> None:
    """Sends `count` lines to one process; raises FuzzError if it misbehaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "game.sgf").write_text("(;SZ[9]KM[5.5]AB[cc];W[ee];B[ec];W[tt];B[gc])", encoding="utf-8")
        (folder / "cut.sgf").write_text("(;SZ[9];B[ee", encoding="utf-8")
        engine = Engine(folder)
        number = 0
        try:
            parameters = engine.ask(b"kata-get-params")
            lines = lines_from(first, seed, b"kata-set-params " + parameters.encode())
            for number in range(1, count + 1):
                for line in next(lines):
                    engine.send(line)
                if number % REPORT_EVERY == 0:
                    print(f"{first + number:9,} lines", flush=True)
            engine.end()
        except FuzzError as error:
            recent = "\n".join(f"    {line[:200]!r}" for _, line in list(engine.owed)[:10])
            text = f"line {first + number:,}: {error}\n  commands without response:\n{recent}"
            raise FuzzError(text) from None
        finally:
            engine.process.kill()
            engine.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000, help="default: 1,000,000")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--first", type=int, default=0, help="the number of the first line (default: 0)")
    options = parser.parse_args()
    try:
        fuzz(options.first, options.lines, options.seed)
    except FuzzError as error:
        sys.exit(f"failed: {error}")
    print(f"{options.lines:,} lines answered")


if __name__ == "__main__":
    main()

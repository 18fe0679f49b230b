"""Records a first game in the terminal as the moving picture of README: `python docs/record_screen.py`.

The engine really plays; only the keys are given. Needs Node.js: svg-term-cli turns the recording, in the format of
asciinema, into an SVG picture that moves in a browser.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pexpect

PICTURE = Path(__file__).parent / "pictures" / "first-game.svg"
ROWS, COLUMNS = 24, 80
GAME = ("-m", "gtp_engine", "play", "--rank", "max", "--seconds", "1", "--seed", "4")
KEY_SECONDS, READING_SECONDS = 0.12, 2.5
FRAME_SECONDS = 0.4  # each frame makes the picture larger, and a spinner shows many
# What is waited for, and what is typed then.
KEYS = (
    ("black> ", "E5"),
    ("black> ", "G5"),
    ("black> ", "hint"),
    ("black> ", "F3"),
    ("black> ", "analyze"),
    ("black> ", "D7"),
    ("black> ", "score"),
    ("black> ", "undo"),
    ("black> ", "resign"),
    ("y/N. ", "y"),
    ("game over> ", "review"),
    ("game over> ", "quit"),
)


class Recording:
    """What the terminal shows, with the times: a file-like object for pexpect."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.events: list[tuple[float, str, str]] = []

    def write(self, text: str) -> None:
        """Adds to the present frame, or begins a new one."""
        now = round(time.monotonic() - self._start, 3)
        if self.events and now - self.events[-1][0] < FRAME_SECONDS:
            start, kind, before = self.events.pop()
            self.events.append((start, kind, before + text))
        else:
            self.events.append((now, "o", text))

    def flush(self) -> None:
        """Does nothing: events are kept in memory."""

    def save(self, path: Path) -> None:
        """Writes the events as asciinema's format, version 2."""
        header = {"version": 2, "width": COLUMNS, "height": ROWS}
        path.write_text("\n".join(json.dumps(line) for line in [header, *self.events]) + "\n")


def main() -> None:
    """Plays the game, records it and draws the picture."""
    with TemporaryDirectory() as folder:
        recording = Recording()
        recording.write("$ gtp_engine play\r\n")
        play(recording, folder)
        cast = Path(folder) / "game.cast"
        recording.save(cast)
        command = ["npx", "--yes", "svg-term-cli", "--in", str(cast), "--out", str(PICTURE), "--window", "--no-cursor"]
        subprocess.run(command, check=True)


def play(recording: Recording, folder: str) -> None:
    """Types the keys at their prompts."""
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    program = pexpect.spawn(
        sys.executable,
        [*GAME, "--sgf-dir", folder],
        encoding="utf-8",
        dimensions=(ROWS, COLUMNS),
        env=os.environ | terminal,
        timeout=120,
    )
    program.logfile_read = recording
    for prompt, keys in KEYS:
        program.expect(prompt)
        read_for(program, READING_SECONDS)
        for key in [*keys, "\r"]:
            program.send(key)
            read_for(program, KEY_SECONDS)
    program.expect(pexpect.EOF)
    time.sleep(2 * READING_SECONDS)  # before the picture begins again
    recording.write("")


def read_for(program: pexpect.spawn, seconds: float) -> None:
    """Records what the program shows in this time."""
    program.expect(pexpect.TIMEOUT, timeout=seconds)


if __name__ == "__main__":
    main()

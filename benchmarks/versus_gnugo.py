"""Rollouts against GNU Go: 9x9, komi 7, Chinese rules, 1 s a move and 2 threads for us, varied openings, both colours.

Games and results are kept in `work/`, one folder for each state of the code; a second run resumes there.
"""

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from fingerprint import results_path

from gtp_engine.games.elo import elo_difference, elo_interval, score_interval
from gtp_engine.games.match import play_match
from gtp_engine.games.results import GameResult, MatchResult

KOMI = {9: 7.0}  # on other boards the usual one


def program(command: str, name: str) -> str:
    """Returns the path of a program that plays Go; ends this one if it is not installed."""
    # Debian's folder of games isn't on every account's path.
    found = shutil.which(command, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
    if found is None:
        sys.exit(f"{name} is not installed (Debian: apt install {command})")
    return found


def gnugo(level: int) -> str:
    """Returns GNU Go's command line."""
    return shlex.join([program("gnugo", "GNU Go"), "--mode", "gtp", "--chinese-rules", "--level", str(level)])


def show(result: MatchResult, game: GameResult) -> None:
    """Prints the figures so far in one line, and what went wrong in the last game."""
    tally = result.tally
    low, high = score_interval(tally)
    elo_low, elo_high = elo_interval(tally)
    print(
        f"{tally.games:4} games: {100 * tally.score:5.1f} % ({100 * low:.1f} to {100 * high:.1f}), "
        f"Elo {elo_difference(tally.score):+.0f} ({elo_low:+.0f} to {elo_high:+.0f}), "
        f"faults {result.faults('A')} : {result.faults('B')}, last: {game.result} ({game.reason})",
        *game.notes,
        sep="\n      ",
        flush=True,
    )


def play(ours: list[str], other: str, folder: Path, games: int, width: int = 9, **options: Any) -> None:
    """Plays games, shows the figures after each, and ends the program if an engine fails."""
    komi = KOMI.get(width)
    print(f"results in {folder}")
    try:
        play_match(shlex.join(ours), other, games=games, width=width, komi=komi, folder=folder, on_game=show, **options)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100, help="default: 100")
    parser.add_argument("--level", type=int, default=10, help="GNU Go's level (default: 10)")
    parser.add_argument("--engine", default="", help="further words of our command line, such as --network NAME")
    options = parser.parse_args()
    ours = [sys.executable, "-m", "gtp_engine", "gtp", "--network", "none", "--seconds", "1", "--threads", "2"]
    ours += shlex.split(options.engine)
    other = gnugo(options.level)
    folder = results_path("versus_gnugo", f"level {options.level} {options.engine}", shlex.join(ours), other)
    play(ours, other, folder, options.games)


if __name__ == "__main__":
    main()

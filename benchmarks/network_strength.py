"""How strong a network is, or rollouts are, for cards and docs/results.md: against GNU Go, rollouts or another program.

    python benchmarks/network_strength.py run/networks/0010.bin.gz --against rollouts
    python benchmarks/network_strength.py none --seconds 1 --threads 2           # rollouts against GNU Go

Chinese rules, komi 7 on 9x9 and the usual one on other boards, random openings, both colours, two games at a time.
Games and results are kept in `work/`, one folder for each state of the code, network and kind of match; a second run
resumes there.
"""

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from kept_results import results_path

from gtp_engine.arena.elo import elo_difference, elo_interval, score_interval
from gtp_engine.arena.match import play_match
from gtp_engine.arena.results import GameResult, MatchResult
from gtp_engine.nets.library import find_network, network_name
from gtp_engine.search.evaluate.choices import ROLLOUTS

KOMI = {9: 7.0}  # on other boards the usual one
ROLLOUT_VISITS = 100


def gnugo(level: int) -> str:
    """Returns GNU Go's command line; ends this program if it is not installed."""
    # Debian's folder of games isn't on every account's path.
    found = shutil.which("gnugo", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
    if found is None:
        sys.exit("GNU Go is not installed (Debian: apt install gnugo)")
    return shlex.join([found, "--mode", "gtp", "--chinese-rules", "--level", str(level)])


def figures(result: MatchResult) -> str:
    """Returns the figures so far in one line."""
    tally = result.tally
    low, high = score_interval(tally)
    elo_low, elo_high = elo_interval(tally)
    return (
        f"{tally.games:4} games: {100 * tally.score:5.1f} % ({100 * low:.1f} to {100 * high:.1f}), "
        f"Elo {elo_difference(tally.score):+.0f} ({elo_low:+.0f} to {elo_high:+.0f}), "
        f"faults {result.faults('A')} : {result.faults('B')}"
    )


def show(result: MatchResult, game: GameResult) -> None:
    """Prints the figures so far, and what went wrong in the last game."""
    last = f"{figures(result)}, last: {game.result} ({game.reason})"
    print(last, *game.notes, sep="\n      ", flush=True)


def play(ours: list[str], other: str, folder: Path, games: int, width: int = 9, **options: Any) -> None:
    """Plays the games that are missing, shows the figures after each and at the end; ends the program if one fails."""
    options |= {"games": games, "width": width, "komi": KOMI.get(width), "folder": folder, "on_game": show}
    print(f"results in {folder}")
    try:
        print(figures(play_match(shlex.join(ours), other, **options)))
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="a file or a name; none for rollouts")
    parser.add_argument(
        "--against",
        default="gnugo",
        help="gnugo (level 10; the default), rollouts, or a GTP command line",
    )
    parser.add_argument("--games", type=int, default=100, help="default: 100")
    parser.add_argument("--visits", type=int, default=200, help="of the network (default: 200)")
    parser.add_argument("--seconds", type=float, help="a move, instead of visits")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--opening-moves", type=int, default=2, help="at random, before each game (default: 2)")
    parser.add_argument("--engine", default="", help="further words of our command line, such as --set selection=uct")
    options = parser.parse_args()
    path = ROLLOUTS if options.network == ROLLOUTS else str(find_network(options.network))
    engine = [sys.executable, "-m", "gtp_engine", "gtp", "--no-resign"]
    limit = ["--seconds", str(options.seconds)] if options.seconds else ["--visits", str(options.visits)]
    ours = [*engine, "--network", path, "--threads", str(options.threads), *limit, *shlex.split(options.engine)]
    rollouts = [*engine, "--network", ROLLOUTS, "--threads", "1", "--visits", str(ROLLOUT_VISITS)]
    named = {"rollouts": lambda: shlex.join(rollouts), "gnugo": lambda: gnugo(10)}
    other = named[options.against]() if options.against in named else options.against
    size = options.board_size
    kind = f"{network_name(Path(path))} {size}x{size} {' '.join(limit)}, {options.against.split()[0]}"
    folder = results_path("network_strength", kind, shlex.join(ours), other)
    play(ours, other, folder, options.games, size, opening_moves=options.opening_moves, concurrency=2)


if __name__ == "__main__":
    main()

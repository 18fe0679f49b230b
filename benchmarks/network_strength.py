"""How strong a network is, for its card: against a random player, random rollouts or GNU Go.

Chinese rules, komi 7 on 9x9 and the usual one on other boards, random openings, both colours, two games at a time.
Games and results are kept in `work/`, one folder for each state of the code, network and kind of match; a second run
resumes there.
"""

import argparse
import shlex
import sys
from pathlib import Path

from fingerprint import results_path
from versus_gnugo import gnugo, play

from gtp_engine.network.library import find_network, network_name

OPENING_MOVES = 2
ROLLOUT_VISITS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="a file or a name")
    parser.add_argument("--against", choices=("random", "rollouts", "gnugo"), default="gnugo", help="default: gnugo")
    parser.add_argument("--games", type=int, default=100, help="default: 100")
    parser.add_argument("--visits", type=int, default=200, help="of the network (default: 200)")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    options = parser.parse_args()
    path = find_network(options.network)
    engine = [sys.executable, "-m", "gtp_engine", "gtp", "--threads", "1", "--no-resign"]
    ours = [*engine, "--network", str(path), "--visits", str(options.visits)]
    others = {
        "random": [sys.executable, str(Path(__file__).with_name("random_player.py"))],
        "rollouts": [*engine, "--network", "none", "--visits", str(ROLLOUT_VISITS)],
    }
    other = shlex.join(others[options.against]) if options.against in others else gnugo(10)
    size = options.board_size
    kind = f"{network_name(path)} {size}x{size} {options.visits} visits, {options.against}"
    folder = results_path("network_strength", kind, shlex.join(ours), other)
    play(ours, other, folder, options.games, size, opening_moves=OPENING_MOVES, concurrency=2)


if __name__ == "__main__":
    main()

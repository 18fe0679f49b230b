"""Strength against KataGo's own program with the same network: at equal visits, or at equal time a move.

9x9, komi 7, Chinese rules, random openings, both colours; several games at a time. Games and results are kept in
`work/`, one folder for each state of the code and kind of match; a second run resumes there.
"""

import argparse
import shlex
import sys

from katago_speed import katago_command
from kept_results import results_path
from network_strength import play

from gtp_engine.network.library import find_network, network_name

OPENING_MOVES = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--katago", default="katago", help="KataGo's program (default: katago)")
    parser.add_argument("--network", required=True, help="a file of KataGo's, or a name")
    parser.add_argument("--games", type=int, default=400, help="default: 400")
    parser.add_argument("--visits", type=int, default=200, help="of both (default: 200)")
    parser.add_argument("--seconds", type=float, help="a move, instead of visits")
    parser.add_argument("--threads", type=int, default=1, help="of each program (default: 1)")
    parser.add_argument("--search-threads", type=int, default=1, help="KataGo's (default: 1)")
    parser.add_argument("--concurrency", type=int, default=2, help="games at a time (default: 2)")
    parser.add_argument("--engine", default="", help="further words of our command line, such as --set c_puct=1.5")
    options = parser.parse_args()
    path = find_network(options.network)
    limit = ["--seconds", str(options.seconds)] if options.seconds else ["--visits", str(options.visits)]
    threads = ["--threads", str(options.threads)]
    ours = [sys.executable, "-m", "gtp_engine", "gtp", "--network", str(path), "--no-resign", *limit, *threads]
    ours += shlex.split(options.engine)
    katago_limit = (
        {"maxVisits": 10**9, "maxTime": options.seconds} if options.seconds else {"maxVisits": options.visits}
    )
    command = katago_command(
        options.katago, path, threads=options.threads, search_threads=options.search_threads, size=9
    )
    settings = ",".join(f"{name}={value}" for name, value in katago_limit.items())
    katago = shlex.join([*command, "-override-config", settings])
    kind = " ".join([network_name(path), *limit, *threads, options.engine])
    play(
        ours,
        katago,
        results_path("katago_games", kind, shlex.join(ours), katago),
        options.games,
        opening_moves=OPENING_MOVES,
        concurrency=options.concurrency,
    )


if __name__ == "__main__":
    main()

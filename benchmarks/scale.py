"""A place on a scale that others can repeat: Elo of networks by visits, among GNU Go and Pachi.

    python benchmarks/scale.py [--board-size 9] [--games 400] [--minutes 60] [--pachi ./pachi] [--show]

All players are limited by level, playouts or visits, on one thread, so that no result depends on the speed of the
computer. The next games are always between the two whose difference they tell most about, four at a time: Chinese
rules, random openings of two moves, either player with Black, refereed by this program. Elo is fitted to all games on
the board (Bradley and Terry's model) with GNU Go's level 10 at 0. Each game is appended to benchmarks/scale.jsonl, so
that the same command resumes at any time, on any machine, and the file can be committed. Players whose program or
network is not here sit out. `--show` prints the table without playing.
"""

import argparse
import itertools
import json
import shlex
import shutil
import sys
import time
from collections import defaultdict
from pathlib import Path

from kept_results import fingerprint, whole_lines
from network_strength import KOMI, gnugo
from rank_curve import Curve, Pairing, fit

from gtp_engine.arena.elo import Z95, expected_score
from gtp_engine.arena.match import play_match
from gtp_engine.arena.results import GameResult, MatchResult
from gtp_engine.base.errors import UserError
from gtp_engine.nets.library import find_network

RESULTS = Path(__file__).resolve().parent / "scale.jsonl"
GAMES_AT_ONCE = 4
# From about the weakest to the strongest: levels of GNU Go, playouts of Pachi, visits of networks.
PLAYERS = (
    *(("GNU Go", level) for level in (0, 10)),
    ("Pachi", 1000),
    *(("g170-b6c96-s175395328-d26788732", visits) for visits in (1, 10, 100)),
    *(("b10c384h6nbttflrs-int8", visits) for visits in (1, 10, 100)),
)
ANCHOR = ("GNU Go", 10)
Player = tuple[str, int]


def command(player: Player, pachi: str) -> str | None:
    """Returns the command line of a player; None if its program or network is not here."""
    name, limit = player
    if name == "GNU Go":
        return gnugo(limit)
    if name == "Pachi":
        words = [pachi, "-t", f"={limit}", "--nodcnn", "--rules", "chinese", "threads=1"]
        return shlex.join(words) if shutil.which(pachi) else None
    try:
        find_network(name)
    except UserError:
        return None
    words = [sys.executable, "-m", "gtp_engine", "gtp", "--threads", "1", "--network", name, "--visits", str(limit)]
    return shlex.join(words)


def kept(size: int) -> dict[tuple[Player, Player], list[float]]:
    """Returns the points of the first player in each game on a board, by the players in the order of PLAYERS."""
    points: dict[tuple[Player, Player], list[float]] = defaultdict(list)
    for line in whole_lines(RESULTS):
        game = json.loads(line)
        if game["size"] == size:
            one, other = (tuple(game[side]) for side in ("one", "other"))
            points[one, other].append(game["points"])
    return points


def fitted(games: dict[tuple[Player, Player], list[float]]) -> Curve:
    """Returns the Elo that fits all games: of a curve with one point, the anchor, and `programs`, all others."""
    pairings = [Pairing(number(one), number(other), sum(points), len(points)) for (one, other), points in games.items()]
    return fit([number(ANCHOR)], pairings, [number(player) for player in PLAYERS if player != ANCHOR])


def number(player: Player) -> float:
    """Returns what stands for a player in a curve."""
    return 0.0 if player == ANCHOR else -1.0 - PLAYERS.index(player)


def next_pair(here: list[Player], games: dict[tuple[Player, Player], list[float]]) -> tuple[Player, Player]:
    """Returns the pair whose games tell most about its difference in Elo; at first neighbours that have not met."""
    for pair in itertools.pairwise(here):
        if pair not in games:
            return pair
    curve = fitted(games)

    def information(pair: tuple[Player, Player]) -> float:
        elo, error = curve.difference(*map(number, pair))
        return expected_score(elo) * expected_score(-elo) * error**2

    return max(itertools.combinations(here, 2), key=information)


def play(pair: tuple[Player, Player], pachi: str, size: int, seed: int) -> None:
    """Plays some games between two players, and keeps each."""

    def keep(_: MatchResult, game: GameResult) -> None:
        points = {"A": 1.0, "B": 0.0}.get(game.winner or "", 0.5)
        line = {"size": size, "one": pair[0], "other": pair[1], "points": points, "black": game.black}
        line |= {"result": game.result, "reason": game.reason, "programs": game.names, "code": fingerprint()}
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")

    commands = [command(player, pachi) or "" for player in pair]
    play_match(*commands, games=GAMES_AT_ONCE, width=size, komi=KOMI.get(size), seed=seed, on_game=keep)


def show(size: int) -> None:
    """Prints the table of a board."""
    games = kept(size)
    if not games:
        return
    curve = fitted(games)
    by_player: dict[Player, list[float]] = defaultdict(list)
    for (one, other), points in games.items():
        by_player[one] += points
        by_player[other] += [1 - point for point in points]
    print(f"{size}x{size}: {sum(map(len, games.values()))} games\n{'player':42} games  points  Elo (95 % interval)")
    elo = {player: curve.difference(number(player), number(ANCHOR)) for player in by_player}
    for player in sorted(elo, key=lambda player: elo[player]):
        value, error = elo[player]
        name = f"{player[0]} {'level ' * (player[0] == 'GNU Go')}{player[1]}"
        low, high = value - Z95 * error, value + Z95 * error
        points = by_player[player]
        print(f"{name:42} {len(points):5}  {sum(points):6g}  {value:+.0f} ({low:+.0f} to {high:+.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--games", type=int, default=400, help="on this board in all (default: 400)")
    parser.add_argument("--minutes", type=float, help="stop after the games that are under way then")
    parser.add_argument("--pachi", default="pachi", help="Pachi's program (default: pachi)")
    parser.add_argument("--show", action="store_true", help="print the table without playing")
    options = parser.parse_args()
    size, end = options.board_size, time.monotonic() + 60 * (options.minutes or float("inf"))
    here = [player for player in PLAYERS if not options.show and command(player, options.pachi)]
    while here and time.monotonic() < end and sum(map(len, (games := kept(size)).values())) < options.games:
        pair = next_pair(here, games)
        play(pair, options.pachi, size, sum(map(len, games.values())))
        show(size)
    show(size)


if __name__ == "__main__":
    main()

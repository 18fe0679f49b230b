"""Which of two settings of rollouts and search plays better at equal CPU time: games in one process, no GTP.

A setting is a list of NAME=VALUE: the evaluator's `rollouts`, `batch_size`, `heavy`, and all parameters of the search.
Results are kept in `work/`, one file for each state of the code and pair of settings; a second run resumes there.
"""

import argparse
import hashlib
import inspect
import json
import os
import time
from pathlib import Path
from typing import Any

from fingerprint import WORK, fingerprint

from gtp_engine.evaluate.rollouts.evaluator import RolloutEvaluator
from gtp_engine.game.coords import BLACK
from gtp_engine.game.counting import area_margin
from gtp_engine.game.game import Game
from gtp_engine.games.elo import Tally, elo_difference, elo_interval
from gtp_engine.games.openings import random_openings
from gtp_engine.search.parameters import SearchParameters, parse_setting
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search

OPENING_MOVES = 2
HOPELESS = 0.05  # a player with a lower win rate in two searches running has lost


class Player:
    """One side of the comparison, on one thread."""

    def __init__(self, settings: str, seed: int) -> None:
        parameters = SearchParameters()
        ours: dict[str, Any] = {}
        known = inspect.signature(RolloutEvaluator).parameters
        for text in settings.split():
            name, _, value = text.partition("=")
            if name in known:
                ours[name] = int(value)
            else:
                parameters = parse_setting(parameters, text)
        self.search = Search(RolloutEvaluator(seed=seed, **ours), parameters, seed)
        self.visits_per_second = 0.0
        self._searched = (0, 0.0)
        run_search(self.search, SearchRequest(Game(), Limits(visits=50)))  # compiles

    def think(self, game: Game, seconds: float) -> tuple[int, float]:
        """Returns a move and its win rate after `seconds` of this thread's CPU time.

        The visits are given in advance, from the rate so far: what else runs on the machine has no influence.
        """
        self.search.set_position(game)
        visits = max(10, round(seconds * self.visits_per_second)) if self.visits_per_second else 200
        start = time.thread_time()
        report = run_search(self.search, SearchRequest(game, Limits(visits=self.search.visits + visits)))
        done, spent = self._searched
        self._searched = (done + report.new_visits, spent + time.thread_time() - start)
        self.visits_per_second = self._searched[0] / self._searched[1]
        return self.search.choose(report), report.winrate


def play_game(players: dict[int, Player], game: Game, seconds: float) -> float:
    """Black's points: 1, 0.5 or 0."""
    hopeless = {1: 0, 2: 0}
    for player in players.values():
        player.search.clear()
    while not game.is_over and len(game.moves) < 3 * game.area:
        colour = game.to_move
        point, winrate = players[colour].think(game, seconds)
        hopeless[colour] = hopeless[colour] + 1 if winrate < HOPELESS else 0
        if hopeless[colour] == 2:
            return 0.0 if colour == BLACK else 1.0
        game.play(colour, point)
    margin = area_margin(game.board[0])
    return 0.5 if margin == 0 else float(margin > 0)


def results_file(conditions: list[Any]) -> Path:
    """Returns the file of the results under these conditions."""
    name = hashlib.sha256(json.dumps(conditions).encode()).hexdigest()[:10]
    return WORK / f"ab_rollouts-{fingerprint()}" / f"{name}.json"


def keep(results: list[float], file: Path) -> None:
    """Writes A's points of each game."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps(results))
    os.replace(temporary, file)


def show(results: list[float], players: dict[str, Player]) -> None:
    """Prints the figures so far, for A, in one line."""
    counts = {points: sum(result == points for result in results) for points in (0.0, 0.5, 1.0)}
    pairs = [0] * 5
    for first, second in zip(results[::2], results[1::2], strict=False):
        pairs[round(2 * (first + second))] += 1
    tally = Tally(counts[1.0], counts[0.5], counts[0.0], tuple(pairs))  # type: ignore[arg-type]
    low, high = elo_interval(tally)
    rates = " ".join(f"{name} {player.visits_per_second:,.0f} visits/s" for name, player in players.items())
    print(
        f"{tally.games:4} games: A {100 * tally.score:.1f} %, Elo {elo_difference(tally.score):+.0f} "
        f"({low:+.0f} to {high:+.0f}); {rates}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", help='settings of A, such as "rollouts=4 c_puct=0.8", or ""')
    parser.add_argument("b", help="settings of B")
    parser.add_argument("--games", type=int, default=100, help="default: 100")
    parser.add_argument("--seconds", type=float, default=0.1, help="CPU time per move (default: 0.1)")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--komi", type=float, default=7.0, help="default: 7")
    options = parser.parse_args()
    file = results_file([options.a, options.b, options.seconds, options.board_size, options.komi])
    results: list[float] = json.loads(file.read_text()) if file.exists() else []
    players = {"A": Player(options.a, len(results)), "B": Player(options.b, len(results) + 1)}
    openings = random_openings(options.board_size, options.board_size, OPENING_MOVES, seed=1)
    for number in range(options.games):
        if number % 2 == 0:
            opening = next(openings)
        if number < len(results):
            continue
        game = Game(options.board_size, komi=options.komi)
        for move in opening:
            game.play(*move)
        first, second = ("A", "B") if number % 2 == 0 else ("B", "A")
        black = play_game({1: players[first], 2: players[second]}, game, options.seconds)
        results.append(black if number % 2 == 0 else 1 - black)
        keep(results, file)
        show(results, players)


if __name__ == "__main__":
    main()

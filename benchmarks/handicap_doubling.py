"""What a playout doubling advantage is worth to White in games with a handicap: Elo with it against without it.

    python benchmarks/handicap_doubling.py NETWORK [--games 200] [--minutes 60] [--show]

White searches and gives stones on 19x19 to a weaker player, to whom it loses about half of the games without the
advantage: moves drawn from the policy of the same network. With it, `handicap_doubling` is KataGo's 0.045. Chinese
rules, komi 0.5, games side by side; one that both players have judged alike for some time ends early, in Black's
favour only after 60 % of the board's points. Each game is appended to benchmarks/handicap_doubling.jsonl, so that the
same command resumes at any time; `--show` prints the table without playing.
"""

import argparse
import json
import math
import time
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from kept_results import fingerprint, whole_lines

from gtp_engine.arena.elo import Tally, elo_difference, elo_interval
from gtp_engine.arena.match_settings import MOVES_PER_POINT
from gtp_engine.arena.results import EndReason
from gtp_engine.arena.runner import EndRules, GameInProgress, GameRunner, PlannedSearch
from gtp_engine.engine.handicap_play import Doublings, white_doublings
from gtp_engine.engine.ranks import Strength
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, EMPTY, WHITE, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import HANDICAP_KOMI, fixed_handicap_points
from gtp_engine.nets.library import find_network, network_name
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import SearchRequest
from gtp_engine.search.scheduler import Scheduler
from gtp_engine.search.search import Search

RESULTS = Path(__file__).resolve().parent / "handicap_doubling.jsonl"
SIZE, VISITS, GAMES_AT_ONCE = 19, 8, 36
# The strength of the draws (`Strength.of_policy`) by stones, at which g170 b6c96 wins about half of the games as White.
STRENGTHS = {3: Strength(0.87), 5: Strength(0.70), 9: Strength(0.56)}
DOUBLINGS = (0.0, 0.045)
END_RULES = EndRules(MOVES_PER_POINT, winrate=0.97, positions=6, earliest=0.25, resigns=True)
EARLIEST_OF_BLACK = 0.6  # the handicap alone gives Black such a win rate at the beginning


@dataclass(eq=False)
class HandicapGame(GameInProgress):
    """A game in progress: its stones, the setting of White, and White's last doublings."""

    stones: int
    doubling: float
    searches: dict[int, Search]  # by colour
    last: Doublings | None = None

    def update(self, report: SearchReport, rules: EndRules) -> None:
        super().update(report, rules)
        if self.decided_for == BLACK and len(self.game.moves) < EARLIEST_OF_BLACK * self.game.area:
            self.decided_for = EMPTY


class HandicapGames(GameRunner[HandicapGame]):
    """Plays the missing games until a time."""

    def __init__(self, network: str, games: int, end: float) -> None:
        super().__init__(END_RULES, GAMES_AT_ONCE)
        self._name, self._wanted, self._end = network_name(find_network(network)), games, end
        self._worker = EngineSettings(network, threads=1, strict=True).new_worker()
        evaluator = self._worker.evaluator_on(SIZE, SIZE)
        self._parameters = replace(default_parameters(network), tree_megabytes=1)
        self._scheduler = Scheduler(evaluator, GAMES_AT_ONCE, max(evaluator.batch_size, GAMES_AT_ONCE // 2))
        self._begun = {cell: len(points) for cell, points in kept(self._name).items()}

    @property
    def schedulers(self) -> Collection[Scheduler]:
        return [self._scheduler]

    def close(self) -> None:
        self._worker.close()

    def _begin_game(self) -> HandicapGame | None:
        cell = min(self._begun, key=lambda cell: self._begun[cell])
        if self._begun[cell] >= self._wanted or time.monotonic() > self._end:
            return None
        self._begun[cell] += 1
        game = Game(SIZE, komi=HANDICAP_KOMI)
        game.place_handicap(fixed_handicap_points(cell[0], SIZE, SIZE))
        searches = {colour: Search(self._scheduler.evaluator, self._parameters, None) for colour in (BLACK, WHITE)}
        return HandicapGame(game, *cell, searches)

    def _plan_search(self, game: HandicapGame) -> PlannedSearch:
        search = game.searches[game.game.to_move]
        if game.game.to_move == BLACK:
            return PlannedSearch(search, self._scheduler, 1)
        white = white_doublings(game.game, game.doubling, game.last) if game.doubling else 0.0
        search.parameters = replace(self._parameters, playout_doubling_advantage=white)
        return PlannedSearch(search, self._scheduler, VISITS)

    def _choose_move(self, game: HandicapGame, search: Search, report: SearchReport) -> int:
        if game.game.to_move == WHITE:
            game.last = Doublings(0, search.parameters.playout_doubling_advantage, report.winrate)
            return search.choose(report)
        strength = STRENGTHS[game.stones]
        priors = report.priors.astype(float)
        likely = np.where(priors >= strength.least_share * priors.max(), priors, 0.0)
        weights = likely ** (strength.of_policy / (1 - strength.of_policy))
        return point_of_index(int(search.random.choice(len(weights), p=weights / weights.sum())), SIZE, SIZE)

    def _end_game(self, game: HandicapGame, reason: EndReason) -> None:
        winner = game.decided_for
        if reason is EndReason.SCORE:
            request = SearchRequest(game.game, parameters=self._parameters)
            winner = game.game.score(self._worker.dead_stones(request)).winner
        line = {"network": self._name, "stones": game.stones, "doubling": game.doubling}
        line |= {"points": {WHITE: 1.0, BLACK: 0.0}.get(winner, 0.5), "moves": len(game.game.moves)}
        with RESULTS.open("a") as file:
            file.write(json.dumps(line | {"reason": reason, "code": fingerprint()}) + "\n")


def kept(network: str) -> dict[tuple[int, float], list[float]]:
    """Returns White's points in each game so far, by stones and setting."""
    points: dict[tuple[int, float], list[float]] = {(stones, one): [] for stones in STRENGTHS for one in DOUBLINGS}
    for game in map(json.loads, whole_lines(RESULTS)):
        if game["network"] == network:
            points[game["stones"], game["doubling"]].append(game["points"])
    return points


def show(network: str) -> None:
    """Prints White's scores, and for each handicap what the advantage changes."""
    points = kept(network)
    for stones in STRENGTHS:
        elos, errors = [], []
        for doubling in DOUBLINGS:
            results = points[stones, doubling]
            tally = Tally(results.count(1.0), results.count(0.5), results.count(0.0))
            elos.append(elo_difference(tally.score))
            low, high = elo_interval(tally)
            errors.append((high - low) / 2)
            print(f"{stones} stones, {doubling:<5}: {tally.wins} of {tally.games} won by White")
        change, error = elos[1] - elos[0], math.hypot(*errors)
        print(f"{stones} stones: {change:+.0f} Elo ({change - error:+.0f} to {change + error:+.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="a file or a name")
    parser.add_argument("--games", type=int, default=200, help="of each handicap and setting (default: 200)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no game after them")
    parser.add_argument("--show", action="store_true", help="print the table without playing")
    options = parser.parse_args()
    if not options.show:
        with closing(HandicapGames(options.network, options.games, time.monotonic() + 60 * options.minutes)) as games:
            games.step()
            while games.games:
                games.step()
    show(network_name(find_network(options.network)))


if __name__ == "__main__":
    main()

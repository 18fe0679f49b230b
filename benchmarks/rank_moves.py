"""Measures how moves depend on the rank of who plays them, for `weights/rank_moves.toml` and docs/ranks.md.

Games of each rank of a network (`weights/ranks.toml`) against itself and against the next rank are played in this
process; they are appended to a file of JSON lines in `work/`, and the same command resumes there. The steps:

    play     plays games; those of another --seed are held back
"""

import argparse
import itertools
import json
import sys
from collections import Counter
from dataclasses import dataclass

from rank_games import RankGames, opened_games

from gtp_engine.network.library import bundled_folder
from gtp_engine.play.ranks import RANKS_FILE, Rank, read_ranks

TRAINING, HELD_BACK = 1, 2  # seeds


@dataclass(frozen=True)
class RankGame:
    """A game: the strengths of Black and White, and the vertices of all moves, the opening's too."""

    black: float
    white: float
    moves: str


class Games:
    """The games of a network on one board with one seed, in a file."""

    def __init__(self, network: str, size: int, seed: int) -> None:
        self.size, self._seed = size, seed
        self._player = RankGames(network, seed)
        self._file = self._player.file("rank_moves", f"{size}x{size} seed {seed}")
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        self.games = [RankGame(**json.loads(line)) for line in lines]
        self.strengths = read_ranks(bundled_folder() / RANKS_FILE)[self._player.name][size]

    def play_up_to(self, games: int) -> None:
        """Plays the games that are missing to a number of each pairing, one of each in turns."""
        played = Counter((game.black, game.white) for game in self.games)
        for number, opened in zip(range(games), opened_games(self.size, self._seed), strict=False):
            for one, other in self._pairings():
                black, white = (one, other) if number % 2 else (other, one)
                before = played[one, other] + (played[other, one] if one != other else 0)
                if before > number:
                    continue
                game = opened.copy()
                self._player.play(game, black, white)
                played[black, white] += 1
                moves = " ".join(game.vertex(move.point) for move in game.moves)
                self.games.append(RankGame(black, white, moves))
                with self._file.open("a") as lines:
                    lines.write(json.dumps(vars(self.games[-1])) + "\n")
            print(f"{number + 1} of {games}", flush=True)

    def _pairings(self) -> list[tuple[float, float]]:
        ranks = sorted(self.strengths)
        pairs = itertools.chain(zip(ranks, ranks, strict=True), itertools.pairwise(ranks))
        return [(self.strengths[one], self.strengths[other]) for one, other in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("play",))
    parser.add_argument("--network", default="b4c32-9x9", help="a file or a name (default: b4c32-9x9)")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--games", type=int, default=40, help="of each pairing (default: 40)")
    parser.add_argument("--seed", type=int, default=TRAINING, help=f"default: {TRAINING}; {HELD_BACK}: held back")
    options = parser.parse_args()
    try:
        Games(options.network, options.board_size, options.seed).play_up_to(options.games)
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")


if __name__ == "__main__":
    main()

"""The settings that a match between GTP engines and a match between networks have in common."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..base.settings import check, setting
from ..go.coords import BLACK, WHITE
from ..go.game import Game
from ..go.rules import RULESETS, Rules, default_komi, rules_name
from .openings import Openings, choose_openings
from .sprt import Sprt

# Moves after which a game of a match is broken off, as a multiple of the board's points: no sensible game comes near
# it, a cycle does.
MOVES_PER_POINT = 3


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """Settings of a match between two players, "A" and "B".

    Each opening is played twice, with either player as Black; "A" has Black in the first game.

    Attributes:
        games: Number of games.
        width: Width of the board.
        height: Height of the board; None for a square board.
        komi: Komi; None for the usual one: 7.5, on 9x9 and smaller boards 7.
        rules: Rules of the games.
        openings: An SGF file or a folder of SGF files whose games provide the openings; None for random moves.
        opening_moves: Number of moves of an opening; random ones are longer once the board has no others left.
        seed: Seed of the random openings, and of the networks' searches.
        concurrency: Number of games at a time.
        sprt: Sequential test that ends the match once it has decided; None to play all games.
        folder: Folder that receives each game as SGF and the results as JSON lines. A match with the same settings,
            apart from the number of games, resumes there. None to save nothing.

    Raises:
        UserError: A value is not a number, or out of range.
    """

    games: int = setting(100, 1)
    width: int = 19
    height: int | None = None
    komi: float | None = None
    rules: Rules = RULESETS["chinese"]
    openings: Path | None = None
    opening_moves: int = setting(2, 0)
    seed: int = setting(0, 0)
    concurrency: int = setting(1, 1)
    sprt: Sprt | None = None
    folder: Path | None = None

    kind: ClassVar[str] = "player"
    """What a player of the match is called in messages and in the results."""

    def __post_init__(self) -> None:
        check(self)

    def empty_game(self) -> Game:
        """Returns a game on the empty board. Raises ValueError for an impossible board size."""
        height = self.width if self.height is None else self.height
        komi = default_komi(self.width, height) if self.komi is None else self.komi
        return Game(self.width, height, rules=self.rules, komi=komi)

    def choose_openings(self) -> Openings:
        """Returns the openings; opening `n` is for the games 2n and 2n+1. Raises ValueError if there is none."""
        board = self.empty_game()
        pairs = -(-self.games // 2)
        return choose_openings(self.openings, board.width, board.height, self.opening_moves, self.seed, pairs)

    def to_dict(self, commands: dict[str, str]) -> dict[str, Any]:
        """Returns what makes two matches the same match, for JSON.

        Args:
            commands: How each player, "A" and "B", was given.
        """
        board = self.empty_game()
        return {f"{self.kind} {player}": command for player, command in commands.items()} | {
            "board": f"{board.width}x{board.height}",
            "komi": board.komi,
            "rules": rules_name(self.rules) or self.rules.to_json(),
            "openings": str(self.openings) if self.openings else f"random, seed {self.seed}",
            "opening moves": self.opening_moves,
        }


def players_by_colour(number: int) -> dict[int, str]:
    """Returns who has which colour in a game of a match, by the game's number from 0."""
    return {BLACK: "A", WHITE: "B"} if number % 2 == 0 else {BLACK: "B", WHITE: "A"}

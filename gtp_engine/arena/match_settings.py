"""The settings of matches: those that all have in common, and those of matches between GTP engines."""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..base.errors import UserError
from ..base.fields import Instance, Range, Text, check_keywords, invalid
from ..base.settings import check, setting
from ..go.coords import BLACK, WHITE, is_whole
from ..go.rules import RULESETS, Rules, as_rules, rules_name
from .elo import Sprt, as_sprt

if TYPE_CHECKING:
    from ..go.game import Game

# Moves after which a game of a match is broken off, or counted if all stones stand, as a multiple of the board's
# points: no sensible game comes near it; a cycle does, and so does a network that knows nothing.
MOVES_PER_POINT = 3
_PATH = Instance(str | os.PathLike, "a path", Path)


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """Settings of a match between two players, "A" and "B"; raises UserError if a value is wrong.

    Each opening is played twice, with either player as Black; "A" has Black in the first game. Rules and paths may be
    given as texts, and a test as its two Elo differences.

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
    """

    games: int = setting(100, 1)
    width: int = 19
    height: int | None = None
    komi: float | None = None
    rules: Rules = setting(RULESETS["chinese"], accepts=Text(as_rules))
    openings: Path | None = setting(None, accepts=_PATH)
    opening_moves: int = setting(2, 0)
    seed: int = setting(0, 0)
    concurrency: int = setting(1, 1)
    sprt: Sprt | None = setting(None, accepts=Text(as_sprt))
    folder: Path | None = setting(None, accepts=_PATH)

    kind: ClassVar[str] = "player"
    """What a player of the match is called in messages and in the results."""

    def __post_init__(self) -> None:
        check(self)

    @classmethod
    def of_call(cls, function: str, given: dict[str, Any]) -> Self:
        """Returns the settings that a function was given as keywords; TypeError names it for one that is unknown."""
        check_keywords(function, given, [item.name for item in fields(cls)])
        return cls(**given)

    def empty_game(self) -> "Game":
        """Returns a game on the empty board; UserError for an impossible board size."""
        from ..go.game import Game  # imports numba

        return Game(self.width, self.height, rules=self.rules, komi=self.komi)

    def to_dict(self, commands: dict[str, str]) -> dict[str, Any]:
        """Returns what makes two matches the same match, for JSON; `commands` say how "A" and "B" were given."""
        board = self.empty_game()
        return {f"{self.kind} {player}": command for player, command in commands.items()} | {
            "board": f"{board.width}x{board.height}",
            "komi": board.komi,
            "rules": rules_name(self.rules) or self.rules.to_json(),
            "openings": str(self.openings) if self.openings else f"random, seed {self.seed}",
            "opening moves": self.opening_moves,
        }


@dataclass(frozen=True, kw_only=True)
class EngineMatchSettings(MatchSettings):
    """Settings of a match between GTP engines. Each game at a time has engine processes of its own.

    Attributes:
        time: Main seconds, byo-yomi seconds and byo-yomi stones, as in GTP's `time_settings`; (0, 0, 0) for no limit.
        patience: Seconds without an answer after which an engine without a clock has lost.
        handicap: Stones that "A", which then has Black in every game, takes; 0 for even games. There are no openings,
            and the komi is 0.5 unless it is given.
    """

    time: tuple[int, int, int] = (0, 0, 0)
    patience: float = setting(300.0, accepts=Range(0, above=True, noun="number of seconds"))
    handicap: int = setting(0, accepts=Range(0, 9, whole=True))

    kind: ClassVar[str] = "engine"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time(self.time)
        if self.handicap and self.openings is not None:
            raise UserError("games with handicap stones have no openings: leave out one of them")

    def empty_game(self) -> "Game":
        """Returns a game at its start, with the handicap stones; raises UserError if they do not fit."""
        from ..go.game import initial_game  # likewise

        return initial_game(self.width, self.height, handicap=self.handicap, komi=self.komi, rules=self.rules)

    def to_dict(self, commands: dict[str, str]) -> dict[str, Any]:
        stones = {"handicap": self.handicap, "openings": "none", "opening moves": 0} if self.handicap else {}
        return super().to_dict(commands) | {"time": list(self.time)} | stones


def check_time(time: tuple[int, int, int]) -> None:
    """Raises UserError if these are not time settings of GTP, or set no limit although they are not all zero."""
    if not isinstance(time, tuple | list) or len(time) != 3 or not all(is_whole(part) and part >= 0 for part in time):
        raise invalid("time", time, "whole numbers of main seconds, byo-yomi seconds and stones, such as (300, 10, 5)")
    main, period, stones = time
    words = f"invalid time {main} {period} {stones}"
    if period and not stones:
        raise UserError(f"{words}: a period needs a number of stones, such as 1 for byo-yomi")
    if stones and not main + period:
        raise UserError(f"{words}: a number of stones needs main time or a period; 0 0 0 means no limit")


def players_by_colour(number: int, handicap: int = 0) -> dict[int, str]:
    """Returns who has which colour in a game of a match, by the game's number from 0; "A" takes handicap stones."""
    return {BLACK: "A", WHITE: "B"} if handicap or number % 2 == 0 else {BLACK: "B", WHITE: "A"}

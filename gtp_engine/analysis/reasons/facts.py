"""The kinds of facts about a mistake, as data: what holds, the points that it is about, and the line that shows it."""

from dataclasses import dataclass
from enum import Enum

from ..mistakes import Unit


@dataclass(frozen=True)
class Fact:
    """What every fact has.

    Attributes:
        line: The points of the moves that show it, from the position before the mistake: it begins with the move
            played, or with the better one.
        points: The stones or the points that it is about; two facts about the same are told only once.
    """

    line: tuple[int, ...]
    points: frozenset[int]


@dataclass(frozen=True)
class Doubtful(Fact):
    """A loss that a longer search does not confirm; then nothing else is said about the mistake.

    Attributes:
        lost: What the move played costs by the longer search, in points or in win rate (0 to 1); below 0 if it is the
            better one.
        by: Which of the two: what the review measures mistakes in.
    """

    lost: float
    by: Unit


@dataclass(frozen=True)
class PassedTooEarly(Fact):
    """A pass while there were points to gain.

    Attributes:
        lost: The points that the pass cost.
    """

    lost: float


@dataclass(frozen=True)
class AtariMissed(Fact):
    """The player's stones are in atari, the move played leaves them there, and the opponent takes them next."""


class LadderKind(Enum):
    """What a ladder does. The value names the sentence."""

    CATCHES = "catches"  # the better move catches the opponent's stones
    CAUGHT = "caught"  # after the move played the opponent catches the player's stones
    ESCAPES = "escapes"  # the move played is an atari, and the ladder that it begins fails
    RUNS = "runs"  # the move played extends stones that the ladder catches all the same


@dataclass(frozen=True)
class Ladder(Fact):
    """A ladder that works or fails, read to its end.

    Attributes:
        kind: What it does.
        colour: The colour of the stones in it.
    """

    kind: LadderKind
    colour: int


@dataclass(frozen=True)
class GroupChanged(Fact):
    """A group whose life depends on the move.

    Attributes:
        colour: Its colour.
        better: How far its points belong to its colour after the better move, 0 to 1 (0.5 is nobody's).
        played: The same after the move played.
    """

    colour: int
    better: float
    played: float


@dataclass(frozen=True)
class Captured(Fact):
    """Stones that one line captures, and the other does not.

    Attributes:
        captor: The player who captures them.
        number: The number of the move of the line that captures the last of them, from 1.
        is_played: Whether it is the line of the move played.
    """

    captor: int
    number: int
    is_played: bool


@dataclass(frozen=True)
class Connected(Fact):
    """Two chains that the better line joins, and that the line of the move played leaves apart; or the reverse.

    Attributes:
        colour: The colour of the chains: the player's are cut by the mistake, the opponent's are connected by it.
        first: The stones of one chain.
        second: The stones of the other.
    """

    colour: int
    first: frozenset[int]
    second: frozenset[int]


class FilledKind(Enum):
    """Whose point the move played fills. The value names the sentence."""

    OWN = "own"
    OTHERS = "others"
    DAME = "dame"


@dataclass(frozen=True)
class Filled(Fact):
    """A move at a point that is settled already.

    Attributes:
        kind: Whose point it is.
    """

    kind: FilledKind


@dataclass(frozen=True)
class RegionChanged(Fact):
    """A part of the board whose points change owners.

    Attributes:
        gain: The points that the player has more there after the better move than after the move played.
        side: Where it is, as (row, column) of nine parts of the board, each 0 to 2 from the top left.
        is_elsewhere: Whether it is far from the move played.
    """

    gain: float
    side: tuple[int, int]
    is_elsewhere: bool


@dataclass(frozen=True)
class Sente(Fact):
    """The better move has to be answered, the move played has not.

    Attributes:
        better: The points that the player gains if the opponent passes after the better move.
        played: The same for the move played.
    """

    better: float
    played: float

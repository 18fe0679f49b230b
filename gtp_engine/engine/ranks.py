"""Ranks of players, from 25k to 5d, and the strength at which the engine plays at one.

`weights/ranks.toml` holds the strength of each rank for a network and a board; `benchmarks/rank_ladder.py` measures it.
"""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base.errors import UserError
from ..base.languages.texts import Phrase, Value, texts
from ..nets.library import RANK_PLAY, bundled_folder, default_network, default_networks, network_name
from ..search.evaluate.choices import LARGEST_BOARD, ROLLOUTS

if TYPE_CHECKING:
    import numpy as np

RANKS_FILE = "ranks.toml"
_RANK = re.compile(r"([1-9]\d?) ?([kd])(?:yu|an)?", re.IGNORECASE)
_WEAKEST_KYU, _STRONGEST_DAN = 25, 5
_FULL_STRENGTH = ("max", "none")
# All of these were chosen by judgement.
# Moves with a prior below this share of the largest one, times strength^2, are left out: 0.5 % at a strength of 1/4,
# 2 % at 1/2. So mistakes are those of a player who overlooks something, not of one who plays anywhere.
_LEAST_SHARE = 0.08
_LEAST_ALERTNESS = 0.5
_MOST_PATIENCE = 7


@dataclass(frozen=True, order=True)
class Rank:
    """A rank of players; the stronger of two is the larger one."""

    number: int  # 1 for 1d, 2 for 2d and so on; 0 for 1k, -1 for 2k and so on

    def __repr__(self) -> str:
        return f"<Rank {self}>"

    def __str__(self) -> str:
        return f"{self.number}d" if self.number > 0 else f"{1 - self.number}k"

    @property
    def in_words(self) -> Phrase:
        """The rank as pages say it: "4 dan"."""
        return Phrase("dan", {"number": self.number}) if self.number > 0 else Phrase("kyu", {"number": self.kyu})

    @property
    def kyu(self) -> int:
        """The kyu of the rank, 0 for dan ranks."""
        return max(0, 1 - self.number)


def engine_at(rank: Rank | None) -> Phrase:
    """Returns what people call the engine at a rank, None for full strength: "engine, 4 dan"."""
    return Phrase("engineAt", {"rank": Phrase("fullStrength") if rank is None else rank.in_words})


WEAKEST, STRONGEST = Rank(1 - _WEAKEST_KYU), Rank(_STRONGEST_DAN)
RANKS = tuple(map(Rank, range(WEAKEST.number, STRONGEST.number + 1)))


def as_rank(value: object) -> Rank | None:
    """Returns the rank that a rank or a text names, None for full strength and ""; UserError if it names none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        return parse_rank(value)
    if not (isinstance(value, Rank) and WEAKEST <= value <= STRONGEST):
        raise _invalid(value)
    return value


def parse_rank(text: str) -> Rank | None:
    """Returns the rank that a text names, None for full strength; UserError if it names none."""
    if text.strip().lower() in _FULL_STRENGTH:
        return None
    if text.strip().lower() == "auto":
        where = "in a configuration it belongs under [play] or [web]"
        raise UserError(f"--rank auto is for the start of `play` and `web` only: {where}; elsewhere choose {_ranks()}")
    match = _RANK.fullmatch(text.strip())
    rank = Rank(int(match[1]) if match[2].lower() == "d" else 1 - int(match[1])) if match else None
    if rank is None or not WEAKEST <= rank <= STRONGEST:
        raise _invalid(text)
    return rank


def _ranks(value: object = 12) -> str:
    """Returns in words what a rank can be; the example is a number's kyu, if it has one."""
    example = next((rank for rank in RANKS if str(rank) == f"{value}k"), "12k")
    return f"{WEAKEST} to {STRONGEST}, such as {example}, or max"


def _invalid(value: object) -> UserError:
    return UserError(f"invalid rank {str(value)!r}: expected {_ranks(value)}")


@dataclass(frozen=True, order=True)
class Strength:
    """Playing strength as one number, on a path from a random mover to full strength.

    * From 0 to 1 a move is drawn from the network's policy, in proportion to p^b / d for b = strength / (1 - strength)
      and the distance d to the last move: at 0 only the distance counts, at 1 the policy's first choice is played.
    * From 1 on the best move of a search with 2^(strength - 1) visits is played.
    """

    value: float  # 0 for a random mover, 1 for the policy's first choice; more for searches

    def visits(self, random: "np.random.Generator | None" = None) -> int:
        """Returns the visits of a move, 1 for the policy alone.

        Args:
            random: Decides between the two whole numbers beside one that is not whole; None rounds it down.
        """
        visits = 2.0 ** max(0.0, self.value - 1)
        whole = int(visits)
        return whole + (random is not None and random.random() < visits - whole)

    @property
    def of_policy(self) -> float:
        """The share of the policy in a draw, 0 to 1; the rest is chance and the distance to the last move."""
        return min(1.0, self.value)

    @property
    def least_share(self) -> float:
        """The prior of the least likely move that may be drawn, as a share of the largest prior."""
        return _LEAST_SHARE * self.of_policy**2

    @property
    def alertness(self) -> float:
        """The probability of answering an atari of a large group; 1 from a strength of 1/2 on."""
        return min(1.0, _LEAST_ALERTNESS + self.value)

    @property
    def patience(self) -> float:
        """How many times as far behind as at full strength a player has to be to resign."""
        return 1 + (_MOST_PATIENCE - 1) * (1 - self.of_policy)


class RankPlay(NamedTuple):
    """How the engine plays at a rank, with one network on one board."""

    strength: Strength
    notes: tuple[Phrase, ...] = ()  # what a user should know about it; empty if the rank is reached, and was measured

    @property
    def note(self) -> str:
        """The notes in one line of English."""
        return "; ".join(map(texts().say, self.notes))


def play_at(rank: Rank, network: str, width: int, height: int) -> RankPlay:
    """Returns how the engine plays at a rank.

    Without measurements for the network (the name of the evaluator in use, `make_evaluator`), those of the bundled
    network for the board stand for them; without some for the board, those for the board whose size is nearest.
    """
    _, size, strengths = _measured(network, width, height)
    reached = _reached(rank, strengths)
    notes = [] if is_measured(network, width, height) else [Phrase("rank.unmeasured")]
    if rank > max(strengths):
        said: dict[str, Value] = {"reached": reached.in_words, "rank": rank.in_words}
        notes.append(Phrase("rank.notReached", said | {"size": f"{size}x{size}"}))
    return RankPlay(Strength(strengths[reached]), tuple(notes))


def is_measured(network: str, width: int, height: int) -> bool:
    """Returns whether ranks were measured for a network on a board, the arguments being those of `play_at`."""
    name, size, _ = _measured(network, width, height)
    return name == _name_of(network, width, height) and width == height == size


def next_rank(rank: Rank | None, step: int, network: str, width: int, height: int) -> Rank | None:
    """Returns the rank one step from another one, among those that the engine reaches with a network on a board.

    Args:
        rank: The rank; None for full strength, which comes after the highest one.
        step: 1 for the next higher rank, -1 for the next lower one.
        network, width, height: As in `play_at`.
    """
    strengths = _measured(network, width, height)[2]
    steps = [*sorted(strengths), None]
    place = steps.index(None if rank is None else _reached(rank, strengths)) + step
    return steps[min(max(place, 0), len(steps) - 1)]


def _measured(network: str, width: int, height: int) -> tuple[str, int, dict[Rank, float]]:
    """Returns the measurements for a network and a board: the name of the network, the board's size, the strengths."""
    table, side = read_ranks(bundled_folder() / RANKS_FILE), max(width, height)
    name = _name_of(network, width, height)
    known = name if name in table else _stand_in(table, width, height)
    size = min(table[known], key=lambda size: (abs(size - side), -size))
    return known, size, table[known][size]


def _reached(rank: Rank, strengths: Mapping[Rank, float]) -> Rank:
    """Returns the measured rank that stands for a rank: the highest one up to it, or the lowest one."""
    return max((one for one in strengths if one <= rank), default=min(strengths))


def _name_of(network: str, width: int, height: int) -> str:
    """Returns the name in the table of the evaluator that plays on a board."""
    return ROLLOUTS if max(width, height) > LARGEST_BOARD else network_name(Path(network))


def _stand_in(table: Mapping[str, Mapping[int, Any]], width: int, height: int) -> str:
    """Returns the name of the network whose measurements stand for those of another one."""
    usual = default_network(width, height, RANK_PLAY)
    if usual is not None and network_name(usual) in table:
        return network_name(usual)
    side = max(width, height)
    bundled = [network_name(path) for path in default_networks(RANK_PLAY)]
    names = [name for name in bundled if name in table] or list(table)
    return min(names, key=lambda name: min(abs(size - side) for size in table[name]))


@functools.cache
def read_ranks(path: Path) -> dict[str, dict[int, dict[Rank, float]]]:
    """Returns the strength of each measured rank, by the network's name and the board's size."""
    return {
        network: {
            int(board.partition("x")[0]): {rank: float(entry[str(rank)]) for rank in RANKS if str(rank) in entry}
            for board, entry in boards.items()
        }
        for network, boards in tomllib.loads(path.read_text("utf-8")).items()
    }

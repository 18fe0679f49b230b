"""The facts of reviewed games, and how well each player played: tables, files and pictures only present them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

from ..base.languages.texts import DEFAULT, Phrase, texts
from ..base.messages import plural, sentence
from ..go.coords import BLACK, WHITE, as_colour, colour_name
from ..go.rules import terms_text
from ..go.sgf import GameRecord, shown_result
from ..search.request import Limits
from ..table.saved_games import HUMAN, YOU, called, is_own
from .level import EVERYBODY, Level
from .move_review import (
    CLASSES,
    Mistake,
    MoveReview,
    Phase,
    Worth,
    cost_text,
    counted_once,
    find_mistakes,
    loss_class,
    worth,
)
from .rank_estimate import RankEstimate

BOTH_PLAYERS = (BLACK, WHITE)
_FIRST_CHOICES = 5
_SHOWN = 3  # mistakes in a notebook
_BOARD_PIXELS = 330


@dataclass(frozen=True)
class Conditions:
    """How a game was reviewed.

    Attributes:
        network: The name of the network, or of the evaluator without one.
        precision: The network's numeric precision; empty without a network.
        limits: When the search of each position ended.
        seed: The seed of the searches; None for a different one each time.
        rules: The name of the ruleset, or its parts in KataGo's JSON.
        komi: The komi.
        again: The least visits of the second look at what seemed to be mistakes, if they followed from a budget of
            time; 0 if the review ended before it.
        took: The seconds that the review took, if there was such a budget; else None, since it repeats exactly.
        notices: What was repaired in the record, and what it leaves open about rules and komi (`go.sgf.Terms`); and
            that the review was stopped.
    """

    network: str
    precision: str
    limits: Limits
    seed: int | None
    rules: str
    komi: float
    again: int | None = None
    took: float | None = None
    notices: tuple[Phrase, ...] = ()

    @property
    def search(self) -> str:
        """The network and the limits as text: "b6c64-19x19, 200 visits per position"."""
        limits = [] if self.limits.visits is None else [plural(self.limits.visits, "visit")]
        limits += [] if self.limits.seconds is None else [f"{self.limits.seconds:g} s"]
        if self.again is None:
            return f"{self.network}, {' or '.join(limits)} per position"
        again = f", at least {self.again} for what looked like a mistake" if self.again else ""
        took = "" if self.took is None else f", in {self.took:.0f} s"
        return f"{self.network}, about {limits[0]} per position{again}{took}"

    @property
    def text(self) -> str:
        """`search`, and what the numbers hold for: "b6c64-19x19, 200 visits per position; Chinese rules, komi 7.5"."""
        return f"{self.search}; {terms_text(self.rules, self.komi)}"


@dataclass(frozen=True)
class Reason:
    """Why a move is a mistake.

    Attributes:
        sentence: The sentence, in no language yet.
        line: The points of the moves that show it, from the position before the move: it begins with the move played,
            with a better one, or with another move that loses points; empty if other mistakes show it.
        points: The stones or points that the sentence is about.
    """

    sentence: Phrase
    line: tuple[int, ...] = ()
    points: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """The sentence in the default language."""
        return self.text_in(DEFAULT)

    def text_in(self, language: str) -> str:
        """Returns the sentence in one of `base.languages.texts.LANGUAGES`."""
        return sentence(texts(language).say(self.sentence))


@dataclass(frozen=True)
class PlayStatistics:
    """How well some moves were played.

    Attributes:
        moves: The number of moves.
        again: How many of them repeat a mistake, which counts with another move: they lose nothing, and have no class.
        points_lost: The mean loss of a move, in points.
        winrate_lost: The mean loss of a move, in win rate, 0 to 1.
        accuracy: See `accuracy`, 0 to 100.
        first_choice: How many of the moves were the search's first choice.
        first_five: How many of them were among its first five.
        classes: How many of them fall into each class of losses, the good ones first (`loss_class`).
        class_losses: The points that the moves of each class lost in all.
    """

    moves: int
    again: int
    points_lost: float
    winrate_lost: float
    accuracy: float
    first_choice: int
    first_five: int
    classes: tuple[int, ...]
    class_losses: tuple[float, ...]

    @property
    def lost(self) -> float:
        """The points that the moves lost in all."""
        return sum(self.class_losses)


@dataclass(frozen=True)
class PlayerFigures:
    """How well a player played.

    Attributes:
        name: The player.
        moves: The player's moves, at least one.
        games: The number of games.
        rank: What rank the player plays like, by a single game; None if that is not known.
    """

    name: str
    moves: Sequence[MoveReview]
    games: int = 1
    rank: RankEstimate | None = None

    @cached_property
    def all(self) -> PlayStatistics:
        """How well all the moves were played."""
        return statistics(self.moves)

    @cached_property
    def phases(self) -> dict[Phase, PlayStatistics]:
        """How well those of each phase were played.

        Phases without moves are left out, and those whose moves all repeat a mistake that counts elsewhere: nothing is
        known of them.
        """
        parts = {phase: [move for move in self.moves if move.phase == phase] for phase in Phase}
        return {phase: statistics(part) for phase, part in parts.items() if any(move.repeats is None for move in part)}

    @property
    def worst_phase(self) -> Phase | None:
        """The phase in which most points were lost; None if some of the games have no phases."""
        if any(move.phase is None for move in self.moves):
            return None
        return max(self.phases, key=lambda phase: self.phases[phase].lost, default=None)

    def share_of(self, phase: Phase) -> float:
        """Returns the share of the points that was lost in a phase that has figures, 0 to 1."""
        return self.phases[phase].lost / (self.all.lost or 1)

    def from_class(self, number: int) -> float:
        """Returns the share of the points that was lost in mistakes of this class and of the larger ones, 0 to 1."""
        return sum(self.all.class_losses[number:]) / (self.all.lost or 1)


def statistics(moves: Sequence[MoveReview]) -> PlayStatistics:
    """Returns the statistics of at least one move."""
    count = len(moves)
    losses: list[list[float]] = [[] for _ in range(len(CLASSES) + 1)]
    single = [review for review in moves if review.repeats is None]
    for review in single:
        losses[loss_class(review.points_loss)].append(review.points_loss)
    return PlayStatistics(
        moves=count,
        again=count - len(single),
        points_lost=sum(review.points_loss for review in moves) / count,
        winrate_lost=sum(review.winrate_loss for review in moves) / count,
        accuracy=accuracy(moves),
        first_choice=sum(review.place == 1 for review in moves),
        first_five=sum((review.place or _FIRST_CHOICES + 1) <= _FIRST_CHOICES for review in moves),
        classes=tuple(map(len, losses)),
        class_losses=tuple(map(sum, losses)),
    )


def accuracy(moves: Sequence[MoveReview]) -> float:
    """Returns the accuracy of at least one move, 0 to 100, by KaTrain's formula (`core/ai.py`, `game_report`).

    It is 100 · 0.75^L, with L the weighted mean of the points lost: no loss is 100, a loss of one point a move 75, of
    two points 56. The weight of a move is the complexity of its position (`MoveReview.complexity`), or a
    quarter of the points it lost if that is more; at least 0.05 and at most 1. Obvious moves therefore count little,
    and so do those that repeat a mistake.
    """
    weights = [_weight(review) for review in moves]
    losses = sum(weight * review.points_loss for weight, review in zip(weights, moves, strict=True))
    return float(100 * 0.75 ** (losses / sum(weights)))


def _weight(review: MoveReview) -> float:
    complexity = review.complexity if review.repeats is None else 0.0
    return max(0.05, min(1.0, max(complexity, review.points_loss / 4)))


@dataclass(frozen=True, eq=False)
class GameReview:
    """A reviewed game; in a notebook its worst mistakes are shown on boards.

    Attributes:
        record: The record.
        conditions: How it was reviewed.
        searched: The reviewed moves in order; not all of the record's if only some were asked for or it was stopped.
        player: The only player whose moves are judged; None for both.
        reasons: Why moves are mistakes, by the number of the move (`reasons.explain`), the most telling first.
        is_checked: Whether a second look has been completed: only what it has confirmed is a mistake.
        ranks: What rank the players play like, by colour, as far as it can be estimated (`rank_estimate`).
        praised: The numbers of good moves that the players' rank rarely finds; `reasons` has what is said of them.
    """

    record: GameRecord
    conditions: Conditions
    searched: tuple[MoveReview, ...]
    player: int | None = None
    reasons: Mapping[int, Sequence[Reason]] = field(default_factory=dict)
    is_checked: bool = False
    ranks: Mapping[int, RankEstimate] = field(default_factory=dict)
    praised: tuple[int, ...] = ()

    @cached_property
    def _counted(self) -> tuple[tuple[MoveReview, ...], list[Mistake]]:
        """The moves and the mistakes, found when somebody asks: a review has as many steps as moves."""
        moves, found = counted_once(self.searched, find_mistakes(self.searched, self.player))
        return tuple(moves), [mistake for mistake in found if mistake.is_checked or not self.is_checked]

    @property
    def moves(self) -> tuple[MoveReview, ...]:
        """The reviewed moves; those that repeat a mistake know it (`MoveReview.repeats`)."""
        return self._counted[0]

    @property
    def level(self) -> Level:
        """What leads are worth in the game."""
        return self.searched[0].level if self.searched else EVERYBODY

    @property
    def mistakes(self) -> list[Mistake]:
        """The mistakes of these players, the most important first (`MoveReview.importance`)."""
        return self._counted[1]

    @property
    def players(self) -> tuple[int, ...]:
        """The players whose moves are judged."""
        return BOTH_PLAYERS if self.player is None else (self.player,)

    @cached_property
    def worths(self) -> tuple[Worth, ...]:
        """What the positions before the first reviewed move and after each are worth; mistakes differ by their cost."""
        reports = [*(move.before for move in self.moves[:1]), *(move.after for move in self.moves)]
        return tuple(map(worth, reports))

    @property
    def winrates(self) -> list[float]:
        """Black's win rate before the first reviewed move and after each, 0 to 1."""
        return [value.winrate for value in self.worths]

    @property
    def leads(self) -> list[float]:
        """Black's lead before the first reviewed move and after each, in points."""
        return [value.lead for value in self.worths]

    @property
    def title(self) -> str:
        """The players and their ranks: "Shusaku 4d - Gennan Inseki 8d"."""
        return self.title_in(DEFAULT)

    @property
    def heading(self) -> str:
        """The title and the result, if the record has one."""
        return ", ".join(filter(None, (self.title, shown_result(self.record.result))))

    def title_in(self, language: str) -> str:
        """Returns the title; players without a name are called by their colours, in one of `LANGUAGES`."""
        return " - ".join(self.name(colour, language, is_shared=True) for colour in BOTH_PLAYERS)

    def name(
        self, colour: int | str, language: str = DEFAULT, *, with_rank: bool = True, is_shared: bool = False
    ) -> str:
        """Returns a player's name and rank, or the colour in this language if the record has no name.

        In a game against the engine the engine is "Engine, 12 kyu", and the person "You", or the colour for what is
        shared: each of many readers is "you".
        """
        record, colour = self.record, as_colour(colour)
        phrase = called(record).get(colour)
        if phrase is not None and not (is_shared and phrase == YOU):
            words = texts(language).say(phrase)
            return words[:1].upper() + words[1:]
        name, rank = (record.black, record.black_rank) if colour == BLACK else (record.white, record.white_rank)
        if not name or (is_own(record) and name == HUMAN):
            name = texts(language)(colour_name(colour))
        has_rank = not rank or name.endswith(f" {rank}")  # the engine's names end with it
        return f"{name} {rank}" if with_rank and not has_rank else name

    @property
    def own_moves(self) -> list[MoveReview]:
        """The reviewed moves of these players, also those that are not judged because stones are set up after them."""
        return [review for review in self.moves if review.move.colour in self.players]

    @property
    def praised_moves(self) -> list[MoveReview]:
        """The moves that are praised."""
        return [review for review in self.own_moves if review.number in self.praised]

    def judged(self, colour: int | str | None = None) -> list[MoveReview]:
        """Returns the judged moves of one player, or of all."""
        players = self.players if colour is None else (as_colour(colour),)
        return [review for review in self.own_moves if review.move.colour in players and not review.has_setup]

    def figures(self, language: str = DEFAULT, *, is_shared: bool = False) -> dict[int, PlayerFigures]:
        """Returns how well each of the judged players who have moves played, by colour; names as of `name`."""
        judged = {colour: moves for colour in self.players if (moves := self.judged(colour))}
        return {
            colour: PlayerFigures(self.name(colour, language, is_shared=is_shared), moves, rank=self.ranks.get(colour))
            for colour, moves in judged.items()
        }

    def __repr__(self) -> str:
        worst = ", ".join(cost_text(mistake.worst) for mistake in self.mistakes[:_SHOWN])
        return f"<GameReview: {plural(len(self.moves), 'move')}{'; worst: ' if worst else ''}{worst}>"

    def _repr_html_(self) -> str:
        figures = [
            f'<figure style="display:inline-block;margin:4px">{mistake.worst.to_svg(pixels=_BOARD_PIXELS)}'
            f"<figcaption>{escape(cost_text(mistake.worst))}</figcaption></figure>"
            for mistake in self.mistakes[:_SHOWN]
        ]
        return f"<p>{escape(repr(self)[1:-1])}</p>{''.join(figures)}"

"""The facts of a reviewed game, in one place: tables, files and pictures only present them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

from ..base.languages.texts import DEFAULT, Phrase, texts
from ..base.messages import plural
from ..go.coords import BLACK, WHITE, as_colour, colour_name
from ..go.sgf import GameRecord
from ..search.request import Limits
from .mistakes import Mistake, Unit, find_mistakes
from .play_statistics import PlayerFigures, player_figures
from .review import MoveReview, black_lead, black_winrate, cost_text

BOTH_PLAYERS = (BLACK, WHITE)
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
    """

    network: str
    precision: str
    limits: Limits
    seed: int | None
    rules: str
    komi: float

    @property
    def search(self) -> str:
        """The network and the limits as text: "b6c64-19x19, 200 visits per position"."""
        limits = [] if self.limits.visits is None else [plural(self.limits.visits, "visit")]
        limits += [] if self.limits.seconds is None else [f"{self.limits.seconds:g} s"]
        return f"{self.network}, {' or '.join(limits)} per position"

    @property
    def text(self) -> str:
        """`search`, and what the numbers hold for: "b6c64-19x19, 200 visits per position; rules chinese, komi 7.5"."""
        return f"{self.search}; rules {self.rules}, komi {self.komi:g}"


@dataclass(frozen=True)
class Reason:
    """Why a move is a mistake.

    Attributes:
        sentence: The sentence, in no language yet.
        line: The points of the moves that show it, from the position before the move: it begins with the move played,
            or with a better one.
    """

    sentence: Phrase
    line: tuple[int, ...]

    @property
    def text(self) -> str:
        """The sentence in the default language."""
        return self.text_in(DEFAULT)

    def text_in(self, language: str) -> str:
        """Returns the sentence in one of `languages.texts.LANGUAGES`."""
        text = texts(language).say(self.sentence)
        return text[0].upper() + text[1:]  # it may begin with a pass


@dataclass(frozen=True, eq=False)
class GameReview:
    """A reviewed game; in a notebook its worst mistakes are shown on boards.

    Attributes:
        record: The record.
        conditions: How it was reviewed.
        moves: The reviewed moves in order; not all of the record's if a range was asked for or the review was stopped.
        player: The only player whose moves are judged; None for both.
        by: What the cost of a mistake is measured in.
        reasons: Why moves are mistakes, by the number of the move (`reasons.explain`), the most telling first.
        is_checked: Whether a second look has been completed: only what it has confirmed is a mistake.
    """

    record: GameRecord
    conditions: Conditions
    moves: tuple[MoveReview, ...]
    player: int | None = None
    by: Unit = "points"
    reasons: Mapping[int, Sequence[Reason]] = field(default_factory=dict)
    is_checked: bool = False

    @property
    def players(self) -> tuple[int, ...]:
        """The players whose moves are judged."""
        return BOTH_PLAYERS if self.player is None else (self.player,)

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The mistakes of these players, the most costly first."""
        found = find_mistakes(self.moves, self.by, self.player)
        return [mistake for mistake in found if mistake.worst.is_checked] if self.is_checked else found

    @property
    def winrates(self) -> list[float]:
        """Black's win rate before the first reviewed move and after each, 0 to 1."""
        return [black_winrate(review.before) for review in self.moves[:1]] + [review.winrate for review in self.moves]

    @property
    def leads(self) -> list[float]:
        """Black's lead before the first reviewed move and after each, in points."""
        return [black_lead(review.before) for review in self.moves[:1]] + [review.lead for review in self.moves]

    @property
    def title(self) -> str:
        """The players and their ranks: "Shusaku 4d - Gennan Inseki 8d"."""
        return self.title_in(DEFAULT)

    def title_in(self, language: str) -> str:
        """Returns the title; players without a name are called by their colours, in one of `LANGUAGES`."""
        return " - ".join(self.name(colour, language) for colour in BOTH_PLAYERS)

    def name(self, colour: int | str, language: str = DEFAULT, *, with_rank: bool = True) -> str:
        """Returns a player's name and rank, or the colour in this language if the record has no name."""
        record, colour = self.record, as_colour(colour)
        name, rank = (record.black, record.black_rank) if colour == BLACK else (record.white, record.white_rank)
        name = name or texts(language)(colour_name(colour))
        has_rank = not rank or name.endswith(f" {rank}")  # the engine's names end with it
        return f"{name} {rank}" if with_rank and not has_rank else name

    @property
    def own_moves(self) -> list[MoveReview]:
        """The reviewed moves of these players, also those that are not judged because stones are set up after them."""
        return [review for review in self.moves if review.move.colour in self.players]

    def judged(self, colour: int | str | None = None) -> list[MoveReview]:
        """Returns the judged moves of one player, or of all."""
        players = self.players if colour is None else (as_colour(colour),)
        return [review for review in self.own_moves if review.move.colour in players and not review.has_setup]

    def figures(self, language: str = DEFAULT) -> dict[int, PlayerFigures]:
        """Returns how well each of the judged players who have moves played, by colour; names are in the language."""
        judged = {colour: moves for colour in self.players if (moves := self.judged(colour))}
        return {colour: player_figures(self.name(colour, language), moves) for colour, moves in judged.items()}

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

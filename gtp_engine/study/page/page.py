"""The page of reviewed games: templates are filled in with the games, and style and script are part of the file."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment

from ...base import VERSION
from ...base.fields import invalid, unknown
from ...base.languages.texts import DEFAULT, LANGUAGES, texts
from ...base.web_page import templates, web_page
from ...go.coords import BLACK, EMPTY, PASS, WHITE, colour_name, opponent, xy
from ...go.drawing import SVG_STYLE, BoardDrawing, drawing_script
from ...nets.library import mean_errors
from ...search.report import SearchReport
from ..game_review import GameReview, PlayerFigures, accuracy
from ..move_review import CLASSES, LEAST_POINTS, Mistake, MoveReview, Phase, loss_class, worth
from ..searches import SECOND_LOOK_FACTOR
from .curves import graphs
from .words import Wording, script_data, stones_of, wording

_WORST_OF_ALL = 10  # mistakes of all games that the index lists
_MOST_PLAYERS = 8  # in the table of the index: more columns would not fit on paper
_LARGE = 4  # the class from which the index calls mistakes large: 6 points
# Turning points: of the first ten mistakes the first five, and of the others what lost 1.5 points (a doubtful move).
_MOST, _FEWEST, _DOUBTFUL = 10, 5, 2
_MOVES_SHOWN = 6  # of a line: more are hard to follow on one diagram
_PIXELS = 360


def review_page(reviews: Sequence[GameReview], language: str = DEFAULT) -> str:
    """Returns the page of reviewed games as HTML: one game, or an index and the games.

    Args:
        reviews: At least one review, each of at least one move.
        language: One of `base.languages.texts.LANGUAGES`.

    Raises:
        UserError: No review is given, or the language is unknown.
    """
    if isinstance(reviews, GameReview) or not reviews:
        raise invalid("reviews", reviews, "at least one, such as [review(game)]")
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    text = texts(language)
    many = len(reviews) > 1
    sections = [
        _render(language, "game.html", number=number, many=many, **_game_of(review, f"game-{number}", language))
        for number, review in enumerate(reviews, start=1)
    ]
    title = text("index.title", count=len(reviews)) if many else reviews[0].title_in(language)
    parts = [_render(language, "index.html", **_index_of(reviews, language))] if many else []
    # The texts that the script fills in, by the names that it uses.
    words = text.templates("script.") | {colour: text.template(colour) for colour in ("black", "white")}
    body = _render(language, "page.html", sections=[*parts, *sections], shared={"words": words})
    return web_page(
        text("game.pageTitle", title=title),
        body,
        style=_file("graph.css") + _file("review.css"),
        script=drawing_script().replace("export ", "") + _file("review.js"),
        style_attributes=[SVG_STYLE],
        language=language,
        direction=text.direction,
    )


def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


@cache
def _environment(language: str) -> Environment:
    environment = templates(__package__)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    environment.filters |= wording(language).filters()
    environment.globals |= {"t": texts(language), "Phase": Phase, "CLASSES": CLASSES, "accuracy": accuracy}
    return environment


def _render(language: str, template: str, **values: Any) -> str:
    return _environment(language).get_template(template).render(**values)


def _game_of(review: GameReview, name: str, language: str) -> dict[str, Any]:
    """Returns what the template of a game shows; its name tells its drawings apart from those of other games."""
    turning = turning_points(review, name, language)
    before = review.moves[0].before
    text = texts(language)
    first, last = review.moves[0].number, review.moves[-1].number
    start = text("script.start") if first == 1 else text("script.afterMove", number=first - 1)
    return {
        "review": review,
        "source": Path(review.record.source).name,  # the folder is nobody's business who is sent the page
        "moves": text("game.oneMove" if first == last else "game.moves", first=first, last=last),
        "board": BoardDrawing(stones_of(before), last_move=before.last_move, title=start, name=name).to_svg(),
        "graphs": graphs(review, [point.mistake for point in turning], language, name),
        "turning": turning,
        "players": review.figures(language, is_shared=True).values(),
        "least": LEAST_POINTS,
        "factor": SECOND_LOOK_FACTOR,
        "errors": mean_errors(review.conditions.network),
        "data": script_data(review, language),
        "version": VERSION,
    }


# Several games.


def _index_of(reviews: Sequence[GameReview], language: str) -> dict[str, Any]:
    """Returns what the template of the index shows."""
    worst = [
        (mistake.worst.importance, number, review.title_in(language), mistake.worst)
        for number, review in enumerate(reviews, start=1)
        for mistake in review.mistakes[:_WORST_OF_ALL]
    ]
    players = figures_of_games(reviews, language)
    return {
        "reviews": reviews,
        "players": players[:_MOST_PLAYERS],
        "left_out": len(players[_MOST_PLAYERS:]),
        "is_part": any(player.games > 1 for player in players),
        "worst": sorted(worst, key=lambda found: found[0], reverse=True)[:_WORST_OF_ALL],
        "large": _LARGE,
        "colours": (BLACK, WHITE),
    }


def figures_of_games(reviews: Sequence[GameReview], language: str = DEFAULT) -> list[PlayerFigures]:
    """Returns the figures of the players of several games, who are told apart by name; those with most games first.

    A player without a name counts as another person in each game; the number of the game in the index precedes the
    colour. If any player has several games, only those who do are returned: the review is about them.
    """
    moves: dict[str, list[MoveReview]] = {}
    games: Counter[str] = Counter()
    text = texts(language)
    for number, review in enumerate(reviews, start=1):
        names = {colour: review.name(colour, language, with_rank=False) for colour in review.players}
        judged = [
            (f"{number}. {name}" if name == text(colour_name(colour)) else name, review.judged(colour))
            for colour, name in names.items()
        ]
        for name, own in judged:
            moves.setdefault(name, []).extend(own)
        games.update(dict.fromkeys((name for name, own in judged if own), 1))
    least = 2 if any(count > 1 for count in games.values()) else 1
    chosen = sorted((name for name, count in games.items() if count >= least), key=lambda name: -games[name])
    return [PlayerFigures(name, moves[name], games[name]) for name in chosen]


# Turning points.


class Diagram(NamedTuple):
    """A line on a board.

    Attributes:
        svg: The board with the moves numbered.
        moves: The names of the moves, in order.
        value: What the move played is worth, or the better one: the two differ by the cost.
    """

    svg: str
    moves: tuple[str, ...]
    value: str


class TurningPoint(NamedTuple):
    """A costly mistake: diagrams show what was played and what was better, and how it goes on."""

    mistake: Mistake
    played: Diagram
    better: Diagram


def turning_points(review: GameReview, name: str = "", language: str = DEFAULT) -> list[TurningPoint]:
    """Returns the most important mistakes of a game that was not decided, in the order of the game.

    Args:
        review: The review.
        name: Tells the diagrams apart from those of other games on the same page.
        language: The language of the diagrams' titles.
    """
    mistakes = [mistake for mistake in review.mistakes if not _is_decided(mistake.worst)]
    first, others = mistakes[:_FEWEST], mistakes[_FEWEST:_MOST]
    first += [mistake for mistake in others if loss_class(mistake.worst.points_loss) >= _DOUBTFUL]
    chosen = sorted(first, key=lambda mistake: mistake.worst.number)
    words = wording(language)
    return [_turning_point(mistake, name, words) for mistake in chosen]


def _is_decided(move: MoveReview) -> bool:
    """Whether a player's win rate is shown as 0 % both before and after a move: no such game turns."""
    return {round(100 * worth(report).winrate) for report in (move.before, move.after)} in ({0}, {100})


def _turning_point(mistake: Mistake, name: str, words: Wording) -> TurningPoint:
    move = mistake.worst
    follow_up = move.after.moves[0].pv if move.after.moves else ()

    def diagram(kind: str, line: Sequence[int], report: SearchReport) -> Diagram:
        title = words.text(f"diagram.{kind}", number=move.number, vertex=words.vertex(move.move.point, move))
        svg = _line_drawing(move.before, line[:_MOVES_SHOWN], title, f"{name} {kind}")
        return Diagram(svg, tuple(words.vertex(point, move) for point in line[:_MOVES_SHOWN]), words.value(report))

    return TurningPoint(
        mistake,
        diagram("played", (move.move.point, *follow_up), move.after),
        diagram("better", move.before.best.pv, move.before),
    )


def _line_drawing(before: SearchReport, line: Sequence[int], title: str, name: str) -> str:
    """Draws a line as books do: captured stones stay on the board, and each point has the first move there."""
    stones = stones_of(before).copy()
    labels: dict[int, str] = {}
    colour = before.to_move
    for number, point in enumerate(line, start=1):
        column, row = (0, 0) if point == PASS else xy(point, before.width)
        if point != PASS and stones[row, column] == EMPTY:
            stones[row, column] = colour
            labels[point] = str(number)
        colour = opponent(colour)
    return BoardDrawing(stones, labels=labels, title=title, name=name, pixels=_PIXELS).to_svg()

"""Puts the page together: the templates are filled in with the games, and style and script are part of the file."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from ... import __version__
from ...base.web_page import web_page
from ...game.coords import BLACK, WHITE, colour_name
from ...game.drawing import SVG_STYLE, BoardDrawing, look
from ...network.library import network_name
from ...sgf import lead_text
from ..game_review import GameReview, Phase, accuracy
from ..mistakes import CLASSES, LEAST_POINTS, LEAST_WINRATE, cost
from ..review import MoveReview
from ..reviewer import small_networks
from .figures import figures_of_game, figures_of_games
from .graph import graphs
from .script_data import script_data, stones_of
from .turning_points import Diagram, turning_points
from .words import words

_WORST_OF_ALL = 10  # mistakes of all games that the index lists
_MOST_PLAYERS = 8  # in the table of the index: more columns would not fit on paper
_LARGE = 4  # the class from which the index calls mistakes large: 6 points
# A game is drawn once, although the page is written again after each game that is added to it.
_sections: "WeakKeyDictionary[GameReview, dict[tuple[int, bool], str]]" = WeakKeyDictionary()


def review_page(reviews: Sequence[GameReview]) -> str:
    """Returns the page of reviewed games as HTML: one game, or an index and the games.

    Args:
        reviews: At least one review, each of at least one move.
    """
    text = words()
    many = len(reviews) > 1
    sections = [_game_section(review, number, many) for number, review in enumerate(reviews, start=1)]
    title = text["index"]["title"].format(count=len(reviews)) if many else reviews[0].title
    parts = [_render("index.html", **_index_of(reviews))] if many else []
    shared = {"words": text["script"] | text["colour"], "look": look()}
    body = _render("page.html", sections=[*parts, *sections], shared=shared)
    return web_page(
        text["game"]["page_title"].format(title=title),
        body,
        style=_file("review.css"),
        script=_file("review.js"),
        style_attributes=[SVG_STYLE],
        language=text["language"]["code"],
        direction=text["language"]["direction"],
    )


def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    environment.filters |= {"points": _points, "percent": _percent, "lead": lead_text, "line": _line, "colour": _colour}
    environment.globals |= {"t": words(), "Phase": Phase, "CLASSES": CLASSES, "accuracy": accuracy}
    return environment


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def _game_section(review: GameReview, number: int, many: bool) -> str:
    known = _sections.setdefault(review, {})
    if (number, many) not in known:
        known[number, many] = _render("game.html", number=number, many=many, **_game_of(review, f"game-{number}"))
    return known[number, many]


def _game_of(review: GameReview, name: str) -> dict[str, Any]:
    """Returns what the template of a game shows; its name tells its drawings apart from those of other games."""
    turning = turning_points(review, name)
    before = review.moves[0].before
    text = words()["game"]
    first, last = review.moves[0].number, review.moves[-1].number
    return {
        "review": review,
        "source": Path(review.record.source).name,  # the folder is nobody's business who is sent the page
        "moves": text["one_move" if first == last else "moves"].format(first=first, last=last),
        "board": BoardDrawing(stones_of(before), last_move=before.last_move, name=name).to_svg(),
        "graphs": graphs(review, [point.mistake for point in turning]),
        "turning": turning,
        "players": figures_of_game(review),
        "least": LEAST_POINTS if review.by == "points" else LEAST_WINRATE,
        "is_small": review.conditions.network in map(network_name, small_networks().values()),
        "data": script_data(review),
        "version": __version__,
    }


def _index_of(reviews: Sequence[GameReview]) -> dict[str, Any]:
    """Returns what the template of the index shows."""
    worst = [
        (cost(mistake.worst, review.by), number, review.title, mistake.worst)
        for number, review in enumerate(reviews, start=1)
        for mistake in review.mistakes[:_WORST_OF_ALL]
    ]
    players = figures_of_games(reviews)
    return {
        "reviews": reviews,
        "players": players[:_MOST_PLAYERS],
        "left_out": len(players[_MOST_PLAYERS:]),
        "is_part": any(player.games > 1 for player in players),
        "worst": sorted(worst, key=lambda found: -found[0])[:_WORST_OF_ALL],
        "large": _LARGE,
        "colours": (BLACK, WHITE),
    }


def _points(value: float) -> str:
    """Returns points with one digit after the decimal point."""
    return f"{value:.1f}"


def _percent(share: float, digits: int = 0) -> str:
    """Returns a share of 0 to 1 in percent."""
    return f"{100 * share:.{digits}f}%"


def _line(diagram: Diagram) -> str:
    """Returns the line of a diagram with its numbers."""
    return "  ".join(f"{number} {name}" for number, name in enumerate(diagram.moves, start=1))


def _colour(move: MoveReview) -> str:
    """Returns the name of the player who made a move."""
    return str(words()["colour"][colour_name(move.move.colour)])

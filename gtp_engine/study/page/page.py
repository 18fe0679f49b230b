"""Puts the page together: the templates are filled in with the games, and style and script are part of the file."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from ...base import VERSION
from ...base.languages.texts import DEFAULT, texts
from ...base.web_page import web_page
from ...go.coords import BLACK, WHITE
from ...go.drawing import SVG_STYLE, BoardDrawing, look
from ...nets.library import network_name
from ..game_review import GameReview
from ..graph import graphs
from ..mistakes import CLASSES, LEAST_POINTS, LEAST_WINRATE, cost
from ..play_statistics import PlayerFigures, accuracy, player_figures
from ..review import MoveReview, Phase
from ..reviewer import small_networks
from .script_data import script_data, stones_of
from .turning_points import turning_points
from .wording import wording

_WORST_OF_ALL = 10  # mistakes of all games that the index lists
_MOST_PLAYERS = 8  # in the table of the index: more columns would not fit on paper
_LARGE = 4  # the class from which the index calls mistakes large: 6 points
# A game is drawn once, although the page is written again after each game that is added to it.
_sections: "WeakKeyDictionary[GameReview, dict[tuple[int, bool, str], str]]" = WeakKeyDictionary()


def review_page(reviews: Sequence[GameReview], language: str = DEFAULT) -> str:
    """Returns the page of reviewed games as HTML: one game, or an index and the games.

    Args:
        reviews: At least one review, each of at least one move.
        language: One of `languages.texts.LANGUAGES`.
    """
    text = texts(language)
    many = len(reviews) > 1
    sections = [_game_section(review, number, many, language) for number, review in enumerate(reviews, start=1)]
    title = text("index.title", count=len(reviews)) if many else reviews[0].title_in(language)
    parts = [_render(language, "index.html", **_index_of(reviews, language))] if many else []
    shared = {"words": _script_words(language), "look": look()}
    body = _render(language, "page.html", sections=[*parts, *sections], shared=shared)
    return web_page(
        text("game.pageTitle", title=title),
        body,
        style=_file("review.css"),
        script=_file("review.js"),
        style_attributes=[SVG_STYLE],
        language=language,
        direction=text.direction,
    )


def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _script_words(language: str) -> dict[str, str]:
    """Returns the texts that the script fills in, by the names that it uses."""
    text = texts(language)
    return text.templates("script.") | {colour: text.template(colour) for colour in ("black", "white")}


@cache
def _environment(language: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    environment.filters |= wording(language).filters()
    environment.globals |= {"t": texts(language), "Phase": Phase, "CLASSES": CLASSES, "accuracy": accuracy}
    return environment


def _render(language: str, template: str, **values: Any) -> str:
    return _environment(language).get_template(template).render(**values)


def _game_section(review: GameReview, number: int, many: bool, language: str) -> str:
    known = _sections.setdefault(review, {})
    key = number, many, language
    if key not in known:
        values = _game_of(review, f"game-{number}", language)
        known[key] = _render(language, "game.html", number=number, many=many, **values)
    return known[key]


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
        "graphs": graphs(review, [point.mistake for point in turning]),
        "turning": turning,
        "players": review.figures(language).values(),
        "least": LEAST_POINTS if review.by == "points" else LEAST_WINRATE,
        "is_small": review.conditions.network in map(network_name, small_networks().values()),
        "data": script_data(review, language),
        "version": VERSION,
    }


def _index_of(reviews: Sequence[GameReview], language: str) -> dict[str, Any]:
    """Returns what the template of the index shows."""
    worst = [
        (cost(mistake.worst, review.by), number, review.title_in(language), mistake.worst)
        for number, review in enumerate(reviews, start=1)
        for mistake in review.mistakes[:_WORST_OF_ALL]
    ]
    players = figures_of_games(reviews, language)
    return {
        "reviews": reviews,
        "players": players[:_MOST_PLAYERS],
        "left_out": len(players[_MOST_PLAYERS:]),
        "is_part": any(player.games > 1 for player in players),
        "worst": sorted(worst, key=lambda found: -found[0])[:_WORST_OF_ALL],
        "large": _LARGE,
        "colours": (BLACK, WHITE),
    }


def figures_of_games(reviews: Sequence[GameReview], language: str = DEFAULT) -> list[PlayerFigures]:
    """Returns the figures of the players of several games, who are told apart by name; those with most games first.

    If anybody has several games, only those who do are returned: they are whom the review is about.
    """
    moves: dict[str, list[MoveReview]] = {}
    games: Counter[str] = Counter()
    for review in reviews:
        judged = [(review.name(colour, language, with_rank=False), review.judged(colour)) for colour in review.players]
        for name, own in judged:
            moves.setdefault(name, []).extend(own)
        games.update(dict.fromkeys((name for name, own in judged if own), 1))
    least = 2 if any(count > 1 for count in games.values()) else 1
    names = sorted((name for name, count in games.items() if count >= least), key=lambda name: -games[name])
    return [player_figures(name, moves[name], games[name]) for name in names]

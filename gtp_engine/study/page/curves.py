"""The curves of a reviewed game, Black's lead and win rate: graphs for the page, and a picture of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files

from ...base.chart import Axis, Chart, drawn_leads
from ...base.languages.texts import DEFAULT
from ...go.coords import colour_name
from ..game_review import GameReview
from ..move_review import LISTED, Mistake, Phase
from .words import PHASES, Wording, points, wording

_ROOM = 1.35  # above the highest lead, for the labels of the mistakes
_LABEL_WIDTH = 5.2  # percent of the graph: on a phone, 17 pixels
_LABEL_Y = 12  # pixels from the top to the middle of the labels
# Pixels of the picture: its width, the heights of its graphs, beside and above them, and for the texts of each.
_WIDTH, _HEIGHTS, _LEFT, _TOP, _TEXT = 900, (300, 200, 140), 56, 48, 34
_BAR = 0.45  # half the width of a bar, in moves


def graphs(
    review: GameReview, numbered: Sequence[Mistake], language: str = DEFAULT, section: str = ""
) -> dict[str, Chart]:
    """Returns the graphs of Black's lead, "lead", and win rate, "winrate", over the numbers of the moves.

    Args:
        review: The review of at least one move.
        numbered: The mistakes that have a label, in the order of the game.
        language: One of `base.languages.texts.LANGUAGES`.
        section: The section of the game on the page, to which the marks of mistakes are links; their labels are the
            numbers of the turning points there. Without one the labels are the numbers of the moves.
    """
    words, before = wording(language), review.moves[0].number - 1
    moves = Axis.of([before, before + len(review.moves)], "move", 12, is_whole=True)
    leads, highest = drawn_leads(review.leads, review.record.width * review.record.height)
    scale = Axis.of([-highest * _ROOM, highest * _ROOM], words.text("graph.lead"), 6, is_whole=True)
    ticks = {tick: words.text.lead(tick, digits=0) if tick else "0" for tick in scale.ticks}
    lead = Chart(moves, replace(scale, ticks=ticks))
    ticks = {tick: f"{tick}%" for tick in (25, 50, 75)}
    winrate = Chart(moves, Axis(0, 100, words.text("graph.winrate"), ticks))
    for chart, values in ((lead, leads), (winrate, [100 * value for value in review.winrates])):
        places, even = list(enumerate(values, int(chart.x.low))), (chart.y.low + chart.y.high) / 2
        chart.areas(places, even, 'class="black-ahead"', 'class="white-ahead"')
        chart.line([(chart.x.low, even), (chart.x.high, even)], 'class="even"')
        chart.line(places, 'class="curve"')
        chart.add('<line class="cursor" x1="0" x2="0" y2="100%"/>')  # which only the page shows
        if chart is lead:
            chart.arrows(enumerate(review.leads, int(chart.x.low)), highest, 'class="value"')
        _add_marks(chart, review, dict(places), [mistake.worst.number for mistake in numbered], words, section)
        _add_phases(chart, review, words if chart is lead else None)
    return {"lead": lead, "winrate": winrate}


def _add_phases(chart: Chart, review: GameReview, words: Wording | None) -> None:
    """Adds where the middle game and the endgame begin, and their names if there are words."""
    board = review.record.width, review.record.height
    for phase in Phase.on(*board):
        start = phase.first_move(*board) - 1
        if chart.x.low < start < chart.x.high:
            x = f"{chart.x.percent(start):.2f}%"
            chart.add(f'<line class="phase" x1="{x}" x2="{x}" y2="100%"/>')
            if words is not None:
                chart.add(
                    f'<text class="value" x="{x}" dx="4" y="100%" dy="-5">{escape(words.text(PHASES[phase]))}</text>'
                )


def _add_marks(
    chart: Chart, review: GameReview, values: Mapping[int, float], numbered: Sequence[int], words: Wording, section: str
) -> None:
    """Adds dots for the mistakes, those with a label last so that they are on top, and the labels to the leads."""
    has_labels = chart.y.low < 0  # the leads
    label_x = spread([chart.x.percent(number) for number in numbered], _LABEL_WIDTH)
    labels = dict(zip(numbered, enumerate(label_x, start=1), strict=True))
    for number, (_, left) in labels.items() if has_labels else ():
        x, y = chart.place(number, values[number])
        chart.add(f'<line class="stem" x1="{left:.2f}%" y1="{_LABEL_Y}" x2="{x:.2f}%" y2="{y:.1f}%"/>')
    for move in sorted((mistake.worst for mistake in review.mistakes), key=lambda move: move.number in labels):
        label, left = labels.get(move.number, (0, 0.0))
        link = f'href="#{section}{f"-point-{label}" if label else ""}" data-move="{move.number}" ' if section else ""
        link += "" if label and has_labels else 'tabindex="-1" '
        colour = colour_name(move.move.colour)
        told = {"colour": words.text(colour), "played": words.vertex(move.move.point, move)}
        title = words.text("graph.mistake", number=move.number, points=points(move.points_loss), **told)
        chart.add(f'<a {link}class="mark {colour}"><title>{escape(title)}</title>')
        chart.dot(move.number, values[move.number], 4.5 if label else 3)
        if label and has_labels:
            text = str(label if section else move.number)
            chart.add(f'<circle cx="{left:.2f}%" cy="{_LABEL_Y}" r="{8 if len(text) < 3 else 11}"/>')
            chart.add(f'<text x="{left:.2f}%" y="{_LABEL_Y}" dy="3.5">{text}</text>')
        chart.add("</a>")


def spread(places: Sequence[float], width: float) -> list[float]:
    """Returns places for labels of a width, near theirs and in the same order, within 0 to 100 and not overlapping."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + width if found else width / 2))
    limit = 100 - width / 2
    for index in reversed(range(len(found))):
        found[index] = min(found[index], limit)
        limit = found[index] - width
    return found


# The picture.


def picture(reviews: Sequence[GameReview]) -> str:
    """Returns the picture of games as SVG: their curves, and what each move has cost.

    Args:
        reviews: At least one, each of at least one move.
    """
    height = _TOP + sum(_HEIGHTS) + (len(_HEIGHTS) + 2) * _TEXT
    style = _without_variables((files(__package__) / "graph.css").read_text("utf-8"))
    size = f'viewBox="0 0 {_WIDTH} {height * len(reviews)}" width="{_WIDTH}" height="{height * len(reviews)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="graph picture" {size}><style>{style}</style>'
    games = (f'<svg y="{height * place}">{_game(review)}</svg>' for place, review in enumerate(reviews))
    return "\n".join([head, '<rect class="paper" width="100%" height="100%"/>', *games, "</svg>", ""])


def _game(review: GameReview) -> str:
    marked = sorted(review.mistakes[:LISTED], key=lambda mistake: mistake.worst.number)
    lead, winrate = graphs(review, marked).values()
    charts = [lead, winrate, _losses(review, lead.x)]
    about = f"{review.conditions.search}; the dots are mistakes, those with a number the most costly"
    parts = [f'<text class="heading" x="{_LEFT}" y="28">{escape(review.heading)}</text>']
    parts.append(f'<text x="{_LEFT}" y="{_TOP}">{escape(about)}</text>')
    y, width = _TOP, _WIDTH - 1.5 * _LEFT
    for chart, height in zip(charts, _HEIGHTS, strict=True):
        y += _TEXT
        parts.append(f'<rect class="ground" x="{_LEFT}" y="{y}" width="{width:g}" height="{height}"/>')
        parts.append(chart.at(_LEFT, y, width, height, is_last=chart is charts[-1]))
        y += height
    return "".join(parts)


def _losses(review: GameReview, moves: Axis) -> Chart:
    """Returns bars of what each move has cost."""
    costly = [move for move in review.judged() if move.points_loss]
    most = max((move.points_loss for move in costly), default=1)
    chart = Chart(moves, Axis.of([0, 1.1 * most], wording(DEFAULT).text("players.lost"), 4))
    for move in costly:
        left, right, lost = move.number - _BAR, move.number + _BAR, move.points_loss
        bar = [(left, 0), (left, lost), (right, lost), (right, 0)]
        chart.area(bar, f'class="lost {colour_name(move.move.colour)}"')
    return chart


def _without_variables(style: str) -> str:
    """Returns a style sheet with its first values in place of its variables, which many viewers of SVG do not know."""
    values = dict(reversed(re.findall(r"(--[\w-]+): ([^;]+);", style)))
    return re.sub(r"var\((--[\w-]+)\)", lambda found: values[found[1]], style)

"""The SGF of a reviewed game: marks and comments at the mistakes, better lines as variations, values at every move.

Properties of FF[4]: BM (bad move), DO (doubtful move), TE (good move, here the better one), HO (hotspot), TR (a
triangle, on the better point), V (Black's lead in points). SBKV and SBKS are Sabaki's: Black's win rate in percent and
lead in points, which it draws as graphs.
"""

import copy
from dataclasses import replace

from ..base import VERSION
from ..game.coords import PASS, colour_letter, colour_name, opponent, sgf_point
from ..game.game import Move
from ..search.report import SearchReport
from ..sgf import GameRecord, RecordNode, analysis_comment
from .game_review import GameReview, Reason
from .mistakes import LISTED, Mistake, loss_class
from .review import LONGEST_VARIATION, MoveReview, black_lead, black_winrate

# The mark of a move by the class of its loss: doubtful from 1.5 points on, bad from 3, very bad from 6.
_MARKS: tuple[dict[str, str], ...] = ({}, {}, {"DO": ""}, {"BM": "1"}, {"BM": "2"}, {"BM": "2"})


def annotated(review: GameReview, *, comment_all: bool = False) -> GameRecord:
    """Returns the record with the review in it; what a `GameRecord` does not hold, such as marks, is left out.

    A mistake is marked if it is among the most costly ones or has a mark by its class. Its worst move gets a comment
    and the better line as a variation; the other moves that missed the same point refer to that one.

    Args:
        review: The review.
        comment_all: Whether all reviewed moves get a comment, and not only the mistakes.
    """
    nodes = list(review.record.nodes)
    place = dict(enumerate((index for index, node in enumerate(nodes) if node.move is not None), start=1))
    for move in review.moves:
        nodes[place[move.number]] = _with_values(nodes[place[move.number]], move.after)
    commented = set()
    for order, mistake in enumerate(review.mistakes):
        if order >= LISTED and not _MARKS[loss_class(mistake.worst.points_loss)]:
            continue
        for miss in mistake.misses:
            commented.add(miss.number)
            index = place[miss.number]
            nodes[index] = _with_mistake(nodes[index], mistake, miss, is_hotspot=order < LISTED)
            reasons = review.reasons.get(miss.number, ()) if miss is mistake.worst else ()
            nodes[index] = _with_comment(nodes[index], "\n".join(_reason_text(miss, reason) for reason in reasons))
    for move in review.moves if comment_all else ():
        if move.number not in commented:
            nodes[place[move.number]] = _with_comment(nodes[place[move.number]], move_comment(move))
    if review.moves:
        if review.moves[0].number == 1:
            nodes[0] = _with_values(nodes[0], review.moves[0].before)
        nodes[0] = _with_comment(nodes[0], summary(review))
    record = copy.copy(review.record)
    record.nodes = nodes
    return record


def move_comment(review: MoveReview) -> str:
    """Returns the comment on a move: the result of the search after it and, if it cost something, a better line."""
    text = review.after.as_comment()
    if not review.has_cost:
        return text
    line = review.line_text(review.better_line)
    return f"{text}\n{_cost_line(review)}; {review.vertex(review.best)} was better.\nBetter line: {line}"


def _reason_text(review: MoveReview, reason: Reason) -> str:
    return f"{reason.text} ({review.line_text(reason.line[:LONGEST_VARIATION])})"


def summary(review: GameReview) -> str:
    """Returns the review as a few lines of text, for the comment at the start of the record."""
    lines = [f"Review by gtp_engine {VERSION}: {review.conditions.text}"]
    for colour, figures in review.figures().items():
        numbers = figures.all
        choice = 100 * numbers.first_choice / numbers.moves
        lines.append(
            f"{_player(review, colour)}: {numbers.points_lost:.2f} points lost per move, "
            f"accuracy {numbers.accuracy:.0f}%, engine's first choice {choice:.0f}%"
        )
    lines += [_mistake_line(mistake) for mistake in review.mistakes[:LISTED]]
    return "\n".join(lines)


def _player(review: GameReview, colour: int) -> str:
    """Returns the colour and, if it is known, the player's name: the two may have the same one."""
    head = colour_name(colour).capitalize()
    return head if review.name(colour) == head else f"{head} ({review.name(colour)})"


def _mistake_line(mistake: Mistake) -> str:
    worst = mistake.worst
    played = f"{colour_letter(worst.move.colour)} {worst.vertex(worst.move.point)}"
    place = f"{worst.number} " if len(mistake.misses) > 1 else ""
    cost = f"{worst.points_loss:.1f} points, {100 * worst.winrate_loss:.1f}% win rate"
    moves = "Move" if mistake.first == mistake.last else "Moves"
    return f"{moves} {mistake.span}: {place}{played}, better {worst.vertex(worst.best)} ({cost})"


def _cost_line(review: MoveReview) -> str:
    loss = f"{review.points_loss:.1f} points and {100 * review.winrate_loss:.1f}% of the win rate"
    return f"{review.vertex(review.move.point)} loses {loss}"


def _with_mistake(node: RecordNode, mistake: Mistake, miss: MoveReview, *, is_hotspot: bool) -> RecordNode:
    """Returns a node with the mark of a mistake; with a variation, if it is the worst of the moves that made it."""
    marks = dict(_MARKS[loss_class(miss.points_loss)])
    if miss.best != PASS:
        marks["TR"] = _sgf_point(miss, miss.best)
    if miss is not mistake.worst:
        text = f"{_cost_line(miss)}; {miss.vertex(miss.best)} was better, see move {mistake.worst.number}."
        return _with_comment(replace(node, annotations=node.annotations | marks), text)
    if is_hotspot:
        marks["HO"] = "1"
    node = replace(node, annotations=node.annotations | marks, variations=(*node.variations, _better_line(miss)))
    return _with_comment(node, move_comment(miss))


def _better_line(miss: MoveReview) -> tuple[RecordNode, ...]:
    """Returns the line that should have been played."""
    before, colour = miss.before, miss.move.colour
    # The value of the position, from which the cost is counted, and not that of the move's own fewer visits.
    comment = analysis_comment(
        before.to_move, before.winrate, before.lead, before.visits, (), before.width, before.height
    )
    colours = (colour, opponent(colour))
    nodes = [
        RecordNode(Move(colours[number % 2], point))
        for number, point in enumerate(miss.better_line[:LONGEST_VARIATION])
    ]
    marks = {"TE": "1"} | _values(black_winrate(before), black_lead(before))
    return (replace(nodes[0], annotations=marks, comment=comment), *nodes[1:])


def _sgf_point(review: MoveReview, point: int) -> str:
    return sgf_point(point, review.before.width, review.before.height)


def _with_values(node: RecordNode, report: SearchReport) -> RecordNode:
    return replace(node, annotations=node.annotations | _values(black_winrate(report), black_lead(report)))


def _values(winrate: float, lead: float) -> dict[str, str]:
    """Returns the properties of a position's value for Black."""
    points = f"{round(lead, 2) + 0:.2f}"  # without a minus in front of a zero
    return {"V": points, "SBKV": f"{100 * winrate:.2f}", "SBKS": points}


def _with_comment(node: RecordNode, text: str) -> RecordNode:
    return replace(node, comment="\n\n".join(filter(None, (node.comment, text))))

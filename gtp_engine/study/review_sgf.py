"""The SGF of a reviewed game: marks and comments at the mistakes, better lines as variations, values at every move.

Properties of FF[4]: BM (bad move), DO (doubtful move), TE (good move, here the better one), HO (hotspot), TR (a
triangle, on the better point), V (Black's lead in points). SBKV and SBKS are Sabaki's: Black's win rate in percent and
lead in points, which it draws as graphs.
"""

from dataclasses import replace

from ..base import VERSION
from ..base.languages.texts import texts
from ..go.coords import PASS, colour_letter, colour_name, opponent, sgf_point
from ..go.game import Move
from ..go.sgf import GameRecord, Properties, TreeNode
from ..go.sgf.values import escaped
from ..search.report import SearchReport
from .game_review import GameReview, Reason
from .move_review import LISTED, LONGEST_VARIATION, Mistake, MoveReview, loss_class, worth

# The mark of a move by the class of its loss: doubtful from 1.5 points on, bad from 3, very bad from 6.
_MARKS: tuple[dict[str, str], ...] = ({}, {}, {"DO": ""}, {"BM": "1"}, {"BM": "2"}, {"BM": "2"})
# What an annotated record keeps of each node (FF[4]): the position, the comment, and what is known about the game.
_KEPT = {"B", "W", "AB", "AW", "AE", "PL", "C", "PB", "PW", "BR", "WR", "RE", "RU", "DT", "OT", "AP", "KM", "HA", "TM"}
_KEPT |= {"AN", "BT", "CP", "EV", "GC", "GN", "ON", "PC", "RO", "SO", "US", "WT"}


def annotated(review: GameReview, *, comment_all: bool = False) -> GameRecord:
    """Returns the main line with the review in it; variations, marks, clocks and earlier judgements are left out.

    A mistake is marked if it is among the most costly ones or has a mark by its class. Its worst move gets a comment
    and the better line as a variation; the other moves that made it refer to that one.

    Args:
        review: The review.
        comment_all: Whether all reviewed moves get a comment, and not only the mistakes.
    """
    record = _main_line(review.record)
    nodes = [record.root, *(node for node in record.main_line if node.move is not None)]  # by the number of the move
    for move in review.moves:
        _add_properties(nodes[move.number], _values(move.after))
    commented = set()
    for order, mistake in enumerate(review.mistakes):
        if order >= LISTED and not _MARKS[loss_class(mistake.worst.points_loss)]:
            continue
        for miss in mistake.misses:
            commented.add(miss.number)
            node, is_worst = nodes[miss.number], miss is mistake.worst
            _mark_mistake(node, miss, is_hotspot=is_worst and order < LISTED)
            if is_worst:
                _add_better_line(record, node, miss)
                _add_comment(node, move_comment(miss))
                reasons = review.reasons.get(miss.number, ())
                _add_comment(node, "\n".join(_reason_text(miss, reason) for reason in reasons))
            else:
                _add_comment(node, _again_line(miss))
    for move in review.praised_moves:
        _add_comment(nodes[move.number], "\n".join(_reason_text(move, each) for each in review.reasons[move.number]))
    for move in review.moves if comment_all else ():
        if move.number not in commented:
            _add_comment(nodes[move.number], move_comment(move))
    if review.moves:
        if review.moves[0].number == 1:
            _add_properties(record.root, _values(review.moves[0].before))
        _add_comment(record.root, summary(review))
    return record


def _main_line(record: GameRecord) -> GameRecord:
    made = GameRecord(record.width, record.height, source=record.source)
    made.change(made.root, _kept(record.root))
    made.komi = record.komi  # in points: some servers write hundredths, or zi
    node = made.root
    for each in record.main_line[1:]:
        node = made.add(node, _kept(each))
    return made


def _kept(node: TreeNode) -> Properties:
    return {name: values for name, values in node.properties.items() if name in _KEPT}


def move_comment(review: MoveReview) -> str:
    """Returns the comment on a move: what it is worth and, if it cost something, a better line."""
    text = review.after.as_comment()
    if review.repeats is not None:
        return f"{text}\n{_again_line(review)}"
    if not review.has_cost:
        return text
    line = review.line_text(review.better_line)
    loss = f"{review.points_loss:.1f} points and {100 * review.winrate_loss:.1f}% in win rate"
    played, best = review.vertex(review.move.point), review.vertex(review.best)
    return f"{text}\n{played} loses {loss}; {best} was better.\nBetter line: {line}"


def _reason_text(review: MoveReview, reason: Reason) -> str:
    line = review.line_text(reason.line[:LONGEST_VARIATION])
    return f"{reason.text} ({line})" if line else reason.text


def summary(review: GameReview) -> str:
    """Returns the review as a few lines of text, for the comment at the start of the record."""
    lines = [f"Review by gtp_engine {VERSION}: {review.conditions.text}"]
    lines += map(texts().say, review.conditions.notices)
    for colour, figures in review.figures().items():
        numbers = figures.all
        choice = 100 * numbers.first_choice / numbers.moves
        lines.append(
            f"{_player(review, colour)}: {numbers.points_lost:.2f} points lost per move, "
            f"accuracy {numbers.accuracy:.0f}%, engine's first choice {choice:.0f}%"
        )
    return "\n".join([*lines, *map(_mistake_line, review.mistakes[:LISTED])])


def _player(review: GameReview, colour: int) -> str:
    """Returns the colour and, if it is known, the player's name: the two may have the same one."""
    head = colour_name(colour).capitalize()
    name = review.name(colour, is_shared=True)
    return head if name == head else f"{head} ({name})"


def _mistake_line(mistake: Mistake) -> str:
    worst = mistake.worst
    played = f"{colour_letter(worst.move.colour)} {worst.vertex(worst.move.point)}"
    place = f"{worst.number} " if len(mistake.misses) > 1 else ""
    cost = f"{worst.points_loss:.1f} points, {100 * worst.winrate_loss:.1f}% win rate"
    moves = "Moves" if "-" in mistake.span else "Move"
    return f"{moves} {mistake.span}: {place}{played}, better {worst.vertex(worst.best)} ({cost})"


def _again_line(review: MoveReview) -> str:
    return f"The same mistake as move {review.repeats}: {review.vertex(review.best)} was better."


def _mark_mistake(node: TreeNode, miss: MoveReview, *, is_hotspot: bool) -> None:
    marks = dict(_MARKS[loss_class(miss.points_loss)])
    if miss.best != PASS:
        marks["TR"] = sgf_point(miss.best, miss.before.width, miss.before.height)
    if is_hotspot:
        marks["HO"] = "1"
    _add_properties(node, marks)


def _add_better_line(record: GameRecord, node: TreeNode, miss: MoveReview) -> None:
    """Adds the line that should have been played, and what it is worth, as a variation."""
    before, colour = miss.before, miss.move.colour
    parent = node.parent
    for number, point in enumerate(miss.better_line[:LONGEST_VARIATION]):
        parent = record.add(parent or record.root, move=Move((colour, opponent(colour))[number % 2], point))
        if number == 0:
            _add_properties(parent, {"TE": "1"} | _values(before))
            # The value of the position, from which the cost is counted, and not that of the move's own fewer visits.
            parent.comment = replace(before, moves=()).as_comment()


def _values(report: SearchReport) -> dict[str, str]:
    """Returns the properties of a position's value."""
    value = worth(report)
    points = f"{round(value.lead, 2) + 0:.2f}"  # without a minus in front of a zero
    return {"V": points, "SBKV": f"{100 * value.winrate:.2f}", "SBKS": points}


def _add_properties(node: TreeNode, texts: dict[str, str]) -> None:
    node.properties = node.properties | {name: [escaped(text)] for name, text in texts.items()}


def _add_comment(node: TreeNode, text: str) -> None:
    node.comment = "\n\n".join(filter(None, (node.comment, text)))

"""What the terminal says about moves: the lesson after a game, why moves were played, and what others bring."""

from collections.abc import Iterator

from ...base.languages.texts import texts
from ...base.messages import sentence
from ...go.coords import colour_name
from ...study.game_review import GameReview
from ...study.lesson import worst_mistakes
from ...study.move_review import MoveReview
from ...study.questions import Explanation, told
from .board import LINE_SHOWN


def lesson_lines(review: GameReview) -> list[str]:
    """Returns the mistakes of a lesson after a game, each with a number for `again`, and why they are mistakes.

    Beginners first read what was good.
    """
    mistakes, praise = worst_mistakes(review), list[str]()
    for move in review.praised_moves:
        praise += [f"well played: move {move.number}, {move.vertex(move.move.point)}", *_sentences(review, move)]
    if not mistakes:
        return [*praise, "no mistake has been found in a short search"]
    lines = ["what mattered most, by a short search:"]
    for number, mistake in enumerate(mistakes, 1):
        worst = mistake.worst
        player = f"{colour_name(worst.move.colour)}'s " if review.player is None else ""
        lines.append(f"{number}. {player}move {worst.number}, {worst.vertex(worst.move.point)}, {_cost(worst)}")
        lines += [said for said in _sentences(review, worst) if said not in lines]  # one that names several mistakes
    parts = [*praise, *lines] if review.level.is_beginners else [*lines, *praise]
    return [*parts, "to play on from before one of them, type its number after again, as in again 1"]


def why_lines(review: GameReview, own: int | None) -> list[str]:
    """Returns what is known about some moves, in their order, by a review of them with purposes.

    `own` is the colour that the only person plays; None if there are two.
    """
    mistaken = {mistake.worst.number for mistake in worst_mistakes(review)}
    lines = []
    for move in review.moves:
        player = "your" if move.move.colour == own else f"{colour_name(move.move.colour)}'s"
        sentences = [*_sentences(review, move)]
        if move.number in mistaken:
            explanation = Explanation(move, review.reasons.get(move.number, ()))
            sentences = sentences or [f"   {texts().say(explanation.sentence)}"]
            sentences.append(f"   what follows: {move.line_text(explanation.refutation[:LINE_SHOWN])}")
        if move.ends_game:
            known = ": two passes end the game"
        elif move.number in mistaken:
            known = f" {_cost(move)}"
        elif move.move.colour == own:
            known = ": no mistake has been found"
        else:
            known = ":" if sentences else ": no reason for it is certain"
        lines += [f"{player} {move.vertex(move.move.point)}{known}", *sentences]
    return lines


def what_if_lines(tried: MoveReview) -> list[str]:
    """Returns what a move would have brought in the place of the one played, and what would have followed."""
    line = Explanation(tried).refutation[:LINE_SHOWN]
    said = " ".join(sentence(texts().say(each)) for each in told(tried))
    return [said, f"   what follows: {tried.line_text(line)}"]


def _cost(move: MoveReview) -> str:
    """Returns what a mistake has cost, and what is better."""
    return f"lost about {move.points_loss:.1f} points; better: {move.line_text(move.better_line[:LINE_SHOWN])}"


def _sentences(review: GameReview, move: MoveReview) -> Iterator[str]:
    return (f"   {reason.text}" for reason in review.reasons.get(move.number, ()))

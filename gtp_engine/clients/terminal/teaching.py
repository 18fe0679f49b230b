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


def lesson_pages(review: GameReview) -> list[list[str]]:
    """Returns the lines of a lesson after a game, on each page a mistake and why it is one.

    Beginners first read what was good.
    """
    praise, pages = list[str](), list[list[str]]()
    for move in review.praised_moves:
        praise += [f"well played: move {move.number}, {move.vertex(move.move.point)}", *_sentences(review, move)]
    for number, mistake in enumerate(worst_mistakes(review), 1):
        worst = mistake.worst
        player = f"{colour_name(worst.move.colour)}'s " if review.player is None else ""
        told = f"{number}. {player}move {worst.number}, {worst.vertex(worst.move.point)}, {_cost(worst)}"
        pages.append([told, *_sentences(review, worst)])
    if not pages:
        return [[*praise, "no mistake has been found in a short search"]]
    pages[0] = ["what mattered most, by a short search:", *pages[0]]
    if review.level.is_beginners:
        pages[0] = [*praise, *pages[0]]
    else:
        pages[-1] += praise
    for number, page in enumerate(pages, 1):
        page.append(f"mistake {number} of {len(pages)}; to play on from before it, type again {number}")
    return pages


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

"""Drawings of reviewed moves: the board after a move, with what would have been better."""

from .review import MoveReview, cost_text


def move_svg(review: MoveReview, pixels: float | None = None) -> str:
    """Draws the position after a move, with the candidates that the search found in its place.

    Args:
        review: The move.
        pixels: The width of the drawing; None for that of `BoardDrawing`.
    """
    others = [candidate for candidate in review.before.candidates() if candidate.point != review.move.point]
    return review.after.to_svg(candidates=others, title=cost_text(review), pixels=pixels, ownership=None)

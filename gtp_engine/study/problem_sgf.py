"""The user's problems as a collection for others: the position, what to do, the group marked, and the right line.

Properties of FF[4]: TR (the group), TE (the right move), BM (the move of the game). By a property of its own, LOST (the
points that this move lost), the program knows that a better move is asked for.
"""

from collections.abc import Iterable

from ..base.languages.texts import Phrase, texts
from ..go.coords import BLACK, WHITE, all_points, colour_name, opponent, sgf_point
from ..go.game import Game, Move
from ..go.sgf import GameRecord, read_sgf
from .kept_problems import Card, Missed
from .move_review import whole
from .problems import LOST, problem_of


def collection(cards: Iterable[Card], language: str) -> str:
    """Returns problems as SGF; those of collections as they were there."""
    return "".join(card.sgf if card.missed is None else _record(card, card.missed, language).to_sgf() for card in cards)


def position_record(game: Game) -> GameRecord:
    """Returns a record that begins with a position, with its player to move; its moves are not in it."""
    start = Game(game.width, game.height, rules=game.rules, komi=game.komi)
    points = all_points(game.width, game.height)
    stones = {colour: [point for point in points if game.stone_at(point) == colour] for colour in (BLACK, WHITE)}
    start.set_up(stones[BLACK], stones[WHITE], game.to_move)
    return GameRecord.from_game(start)


def _record(card: Card, missed: Missed, language: str) -> GameRecord:
    """Returns the problem that a mistake makes."""
    game, text = problem_of(read_sgf(card.sgf.encode()), missed).game, texts(language)
    record, colour = position_record(game), game.to_move
    if missed.group:
        chain = game.chain(missed.group)
        group = [sgf_point(point, game.width, game.height).encode() for point in chain.stones] if chain else []
        record.change(record.root, record.root.properties | ({"TR": group} if group else {}))
    lost = Phrase("goalBetter", {"move": missed.played, "count": whole(missed.points)})
    record.root.comment = f"{text('toMove', colour=text(colour_name(colour)))} · {text.say(lost)}"
    node = record.root
    for place, vertex in enumerate(missed.line):
        player = colour if place % 2 == 0 else opponent(colour)
        node = record.add(node, {} if place else {"TE": [b"1"]}, move=Move(player, game.point(vertex)))
    lost_points = f"{missed.points:.1f}".encode()
    record.add(record.root, {"BM": [b"1"], LOST: [lost_points]}, move=Move(colour, game.point(missed.played)))
    return record

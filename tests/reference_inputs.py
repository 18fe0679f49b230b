"""What KataGo's networks see of a position, by its definition: plain sets on the reference board.

The history is kept here too: moves and positions since it began, stones placed, the button.
"""

import copy
import math

from reference_board import BLACK, WHITE, Point, ReferenceBoard, Stones
from reference_life import LadderReader, Owners, area

from gtp_engine.go.rules import Rules


class ReferenceHistory:
    """A game whose positions are shown to a network."""

    def __init__(self, width: int, height: int, rules: Rules) -> None:
        self.rules = rules
        self.board = ReferenceBoard(width, height, rules.ko, rules.suicide)
        self.board.button = rules.has_button
        self.moves: list[Point | None] = []  # those that may be shown
        self.boards = [copy.copy(self.board)]  # since the history began, the present one last
        self.placed = {BLACK: 0, WHITE: 0}
        self.button_bonus = 0.0  # for white

    def play(self, at: Point | None, colour: int) -> None:
        if colour != self.board.to_move:
            self.board.begin_history(colour)
            self.moves = []
            self.boards = [copy.copy(self.board)]
        if self.board.passes >= 2:
            self.moves = self.moves[-1:]  # the game had ended
        if at is not None:
            self.placed[colour] += 1
        elif self.board.button:
            self.button_bonus = 0.5 if colour == WHITE else -0.5
        self.board.play(at, colour)
        self.moves.append(at)
        self.boards.append(copy.copy(self.board))

    def shown(self) -> list[Point | None]:
        """The moves shown, the latest first."""
        if self.hides_history():
            return []
        return self.moves[::-1][: 1 if self.board.passes >= 2 else 5]

    def hides_history(self) -> bool:
        return self.rules.friendly_pass_ok and self.rules.scoring == "AREA" and self.board.passes == 1

    def planes(self, suicide_legal: bool = False) -> dict[int, set[Point]]:
        """The points of each plane that has any."""
        board, own = self.board, self.board.to_move
        planes: dict[int, set[Point]] = {number: set() for number in range(22)}
        planes[0] = set(board.points())
        for point, colour in board.stones.items():
            planes[1 if colour == own else 2].add(point)
            liberties = len(board.liberties(point))
            if liberties <= 3:
                planes[2 + liberties].add(point)
        planes[6] = {point for point in board.points() if board.illegality(point, own) in ("ko", "superko")}
        shown = self.shown()
        for number, move in enumerate(shown):
            if move is not None:
                planes[9 + number].add(move)
        for ago in range(3):
            planes[14 + ago] = caught_on(self.boards[-1 - min(ago, len(shown))])
        for chain in board.all_chains():
            stone = next(iter(chain))
            if board.colour(stone) != own:
                planes[17] |= LadderReader(board).working_moves(stone)
        if self.rules.scoring == "AREA":
            owners = area(board, suicide_legal or self.rules.suicide)
            if self.rules.tax != "NONE":
                owners = without_seki(board, owners)
            for point, colour in owners.items():
                planes[18 if colour == own else 19].add(point)
        return {number: points for number, points in planes.items() if points}

    def scalars(self, komi: float) -> list[float]:
        """The 19 scalars; komi with the compensation for handicap stones."""
        rules, board = self.rules, self.board
        size = board.width * board.height
        komi += self.button_bonus
        if rules.scoring == "TERRITORY":
            komi += self.placed[BLACK] - self.placed[WHITE]
        own_komi = komi if board.to_move == WHITE else -komi
        own_komi = max(-size - 20, min(size + 20, own_komi))
        passes = [float(move is None) for move in self.shown()]
        return [
            *passes,
            *[0.0] * (5 - len(passes)),
            own_komi / 20,
            float(rules.ko != "SIMPLE"),
            {"SIMPLE": 0.0, "POSITIONAL": 0.5, "SITUATIONAL": -0.5}[rules.ko],
            float(rules.suicide),
            float(rules.scoring == "TERRITORY"),
            float(rules.tax != "NONE"),
            float(rules.tax == "ALL"),
            0.0,
            0.0,
            float(board.passes > 0 and not self.hides_history()),
            0.0,
            0.0,
            float(board.button),
            wave(own_komi, size) if rules.scoring == "AREA" else 0.0,
        ]


def caught_on(board: ReferenceBoard) -> set[Point]:
    chains = [chain for chain in board.all_chains() if LadderReader(board).caught(next(iter(chain)))]
    return set().union(*chains)


def without_seki(board: ReferenceBoard, owners: Owners) -> Owners:
    """The areas less those of one colour that touch a neutral point or hold an own stone in atari; stones stay."""
    stones: Stones = dict(owners)
    kept: Owners = {}
    for point, colour in owners.items():
        whole = board.region(point, (colour,), stones)
        neutral = any(near not in owners for member in whole for near in board.neighbours[member])
        atari = any(board.colour(member) == colour and len(board.liberties(member)) == 1 for member in whole)
        if not (neutral or atari) or board.colour(point) == colour:
            kept[point] = colour
    return kept


def wave(komi: float, size: int) -> float:
    """How far komi lies from one that allows a draw."""
    drawn = math.floor(komi)
    while (drawn - size) % 2:
        drawn -= 1
    above = komi - drawn
    if above < 0.5:
        return above
    return 1 - above if above < 1.5 else above - 2

"""Life, areas and ladders by their definitions, on the plain reference board."""

import copy

from reference_board import BLACK, EMPTY, WHITE, Point, ReferenceBoard

Owners = dict[Point, int]


def regions_of(board: ReferenceBoard, colour: int) -> list[set[Point]]:
    """The connected sets of points without a stone of `colour`."""
    left = [point for point in board.points() if board.colour(point) != colour]
    found: list[set[Point]] = []
    for point in left:
        if not any(point in region for region in found):
            found.append(board.region(point, (EMPTY, 3 - colour)))
    return found


def chains_of(board: ReferenceBoard, colour: int) -> list[set[Point]]:
    return [chain for chain in board.all_chains() if board.colour(next(iter(chain))) == colour]


def touches(board: ReferenceBoard, point: Point, chain: set[Point]) -> bool:
    return any(near in chain for near in board.neighbours[point])


def pass_alive_chains(board: ReferenceBoard, colour: int, suicide: bool) -> list[set[Point]]:
    """Benson's fixed point: the largest set of chains that have two vital regions each, all round which only chains of
    the set stand."""
    chains = chains_of(board, colour)
    regions = regions_of(board, colour)
    while True:
        healthy = [
            region
            for region in regions
            if all(
                any(near in chain for chain in chains)
                for point in region
                for near in board.neighbours[point]
                if board.colour(near) == colour
            )
        ]

        def vital(region: set[Point], chain: set[Point]) -> bool:
            needed = [point for point in region if suicide or board.colour(point) == EMPTY]
            return all(touches(board, point, chain) for point in needed)

        kept = [chain for chain in chains if sum(vital(region, chain) for region in healthy) >= 2]
        if len(kept) == len(chains):
            return kept
        chains = kept


def pass_alive(board: ReferenceBoard, suicide: bool) -> Owners:
    """Pass-alive stones and the territory that they prove."""
    owners: Owners = {}
    for colour in (BLACK, WHITE):
        alive = pass_alive_chains(board, colour, suicide)
        for region in proven_regions(board, colour, alive):
            owners.update(dict.fromkeys(region, colour))
        for chain in alive:
            owners.update(dict.fromkeys(chain, colour))
    return owners


def proven_regions(board: ReferenceBoard, colour: int, alive: list[set[Point]]) -> list[set[Point]]:
    found = []
    stones_alive = set().union(*alive)
    for region in regions_of(board, colour):
        border = {near for near in board.border(region) if board.colour(near) == colour}
        room = [point for point in region if not any(board.colour(n) == colour for n in board.neighbours[point])]
        opposed = any(board.colour(point) == 3 - colour for point in region)
        if border and border <= stones_alive and (len(room) <= 1 or not opposed):
            found.append(region)
    return found


def area(board: ReferenceBoard, suicide: bool) -> Owners:
    """Pass-alive territory with all in it, then what one colour encloses, then stones."""
    owners: Owners = {}
    for colour in (BLACK, WHITE):
        proven = proven_regions(board, colour, pass_alive_chains(board, colour, suicide))
        for region in regions_of(board, colour):
            if region in proven:
                owners.update(dict.fromkeys(region, colour))
            elif chains_of(board, colour) and all(board.colour(point) == EMPTY for point in region):
                owners.update({point: colour for point in region if point not in owners})
    return {**board.stones, **owners}


def plain_area(board: ReferenceBoard) -> Owners:
    """Tromp and Taylor's: a point reaches a colour if a path of empty points leads to it."""
    owners: Owners = {}
    for point in board.points():
        colours = {board.colour(point)} - {EMPTY}
        if not colours:
            empty = board.region(point, (EMPTY,))
            colours = {board.colour(near) for near in board.border(empty)}
        if len(colours) == 1:
            owners[point] = colours.pop()
    return owners


class LadderReader:
    """Reads one ladder by playing it out on copies, after the description in `gtp_engine.go.ladders`."""

    def __init__(self, board: ReferenceBoard) -> None:
        self.board = board

    def caught(self, stone: Point) -> bool:
        """Whether the chain at `stone` is caught, with either player to move."""
        count = len(self.board.liberties(stone))
        if count == 1:
            return self._defender_loses(self.board, stone, first=True)
        return count == 2 and bool(self.working_moves(stone))

    def working_moves(self, stone: Point) -> set[Point]:
        """The liberties where the attacker catches a chain that has two."""
        liberties = self.board.liberties(stone)
        if len(liberties) != 2:
            return set()
        attacker = 3 - self.board.colour(stone)
        banned = self.board.ko[0] if self.board.ko else None
        return {
            move
            for move in liberties
            if move != banned
            and not self.board.is_suicide(move, attacker)
            and self._defender_loses(moved(self.board, move, attacker), stone, first=True)
        }

    def _defender_loses(self, board: ReferenceBoard, stone: Point, first: bool = False) -> bool:
        defender = board.colour(stone)
        if len(board.liberties(stone)) >= 2 or (board.ko and not first):
            return False
        moves = set(board.liberties(stone))
        for near in board.border(board.chain(stone)):
            if board.colour(near) == 3 - defender and len(board.liberties(near)) == 1:
                moves |= board.liberties(near)
        return not any(
            not board.is_suicide(move, defender) and not self._attacker_wins(moved(board, move, defender), stone)
            for move in moves
        )

    def _attacker_wins(self, board: ReferenceBoard, stone: Point) -> bool:
        attacker = 3 - board.colour(stone)
        liberties = board.liberties(stone)
        if len(liberties) != 2:
            return len(liberties) < 2
        if self._double_ko(board, stone):
            return True
        moves = list(liberties)
        open_sides = {move: sum(board.colour(near) == EMPTY for near in board.neighbours[move]) for move in moves}
        if moves[1] not in board.neighbours[moves[0]]:
            wide = [move for move in moves if open_sides[move] >= 3]
            if wide:
                moves = wide if len(wide) == 1 else []
        banned = board.ko[0] if board.ko else None
        return any(
            move != banned
            and not board.is_suicide(move, attacker)
            and self._defender_loses(moved(board, move, attacker), stone)
            for move in moves
        )

    def _double_ko(self, board: ReferenceBoard, stone: Point) -> bool:
        defender = board.colour(stone)
        for move in board.liberties(stone):
            around = board.neighbours[move]
            if any(board.colour(near) != defender for near in around):
                return False
            in_atari = {frozenset(board.chain(near)) for near in around if len(board.liberties(near)) == 1}
            if len(in_atari) != 1 or len(next(iter(in_atari))) != 1:
                return False
            stones = board.after(move, defender)
            if move in stones and len(board.liberties(move, stones)) > 2:
                return False
        return not any(
            board.colour(near) == 3 - defender and len(board.liberties(near)) == 1
            for near in board.border(board.chain(stone))
        )


def moved(board: ReferenceBoard, move: Point, colour: int) -> ReferenceBoard:
    """The board after a move, without its history."""
    after = copy.copy(board)
    after.prisoners = dict(board.prisoners)
    after.earlier = []
    after.to_move = colour
    after.play(move, colour)
    return after

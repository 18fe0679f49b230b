"""The clocks of a game that is played, with what the players have left in its record."""

from collections.abc import Mapping

from ..sgf import Properties, RecordTree
from .clock import NO_LIMIT, TimeSettings
from .game_clock import GameClock
from .time_record import read_time_left, with_time_left


class RecordedClock(GameClock):
    """Clocks at the end of a game's main line. The node of a move says what its player has left after it.

    If the game is saved in mid-turn, the last node says what the other player has left too.

    Attributes:
        last: The last node of the main line, whose turn is timed.
    """

    def __init__(self, tree: RecordTree, settings: TimeSettings = NO_LIMIT, used: Mapping[int, float] | None = None):
        """Continues a game with the times in its record, also in mid-turn.

        Args:
            tree: The record.
            settings: The time system.
            used: The seconds that the players have used already.
        """
        super().__init__(settings, used)
        self._tree = tree
        self.last = tree.main_line[-1]
        self._read()

    def _read(self) -> None:
        self.set_left(read_time_left(node.properties for node in self.last.path))

    def follow(self) -> None:
        """Sets the clocks to the beginning of the last turn of the main line, if that is another one than before."""
        if self._tree.main_line[-1] is not self.last:
            self.restart_turn()

    def restart_turn(self) -> None:
        """Sets the clocks to the beginning of the last turn of the main line."""
        self.last = self._tree.main_line[-1]
        self._note(None)
        self._read()

    def finish_turn(self, colour: int) -> Properties:
        """Ends the last turn by a move; returns the properties of the move's node."""
        self._note(None)
        self.end_turn(colour)
        left = self.left(colour)
        return {} if left is None else with_time_left({}, {colour: left})

    def moved(self) -> None:
        """Goes on to the turn after a move that is in the record now."""
        self.last = self._tree.main_line[-1]

    def note_turn(self) -> None:
        """Notes in the record what the player has left who is in the middle of the last turn."""
        self._note(self.turn)

    def _note(self, turn: int | None) -> None:
        if self.settings == NO_LIMIT:
            return
        moved = self.last.move and self.last.move.colour
        left = {colour: each for colour, each in read_time_left([self.last.properties]).items() if colour == moved}
        if turn is not None and (now := self.left(turn)) is not None:
            left[turn] = now
        if (properties := with_time_left(self.last.properties, left)) != self.last.properties:
            self.last.properties = properties

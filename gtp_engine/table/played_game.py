"""A game that people play at this computer: whose turn it is, its result, and its file, written after every change.

The terminal and the web page show the same game; here is what does not depend on how it is shown. A game is a tree with
variations: whoever plays both colours may play in any of its positions, a game against the engine goes on at its end.
"""

import datetime
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from ..base.errors import UserError
from ..base.languages.texts import Phrase
from ..engine.clock import NO_LIMIT, TimeSettings
from ..engine.engine import Decision, Engine
from ..engine.settings import EngineSettings
from ..go.coords import BLACK, EMPTY, PASS, WHITE, colour_letter, opponent
from ..go.game import Game, Move, count_handicap
from ..go.sgf import Edit, Editor, GameRecord, TreeNode
from ..go.sgf.record import APPLICATION
from ..go.sgf.values import escaped, rules_text
from ..search.request import Limits
from .game_clock import GameClock, overtime_text
from .saved_games import HUMAN, GameFile, Notes, SavedGame, is_own, read_notes


class Mode(Enum):
    """What people do with a game. Where they play both colours, they may play on in any position."""

    GAME = "play against the engine"
    PAIR = "play each other"
    RECORD = "look at somebody's record, whose players, result and date stay"


@dataclass(frozen=True)
class _End:
    """How a game ended, and whom it was played against: the engine may be changed before another game begins."""

    result: str  # as SGF writes it
    engine: str  # its name
    settings: EngineSettings  # the engine's
    dead: frozenset[int] | None = None  # the points of the stones that the count removes; None without a count


class PlayedGame:
    """The game on the engine's board. `load` and `begin` put another one in its place."""

    def __init__(
        self,
        engine: Engine,
        *,
        humans: frozenset[int],
        folder: Path,
        comments: bool = False,
        saved: SavedGame | None = None,
        has_clock: bool = False,
    ) -> None:
        """Begins with the position of the engine.

        With `comments` the engine's win rate, score and main line are saved with its moves. `saved` is the game that
        its position comes from, if any. With `has_clock` players lose on time in games with time limits; otherwise
        their clocks stand still.
        """
        self.engine = engine  # with the position
        self.humans = humans  # the colours that people play; the engine plays the others
        self.folder = folder  # of new files
        self._save_comments = comments
        self._has_clock = has_clock
        self._is_paused = False
        self.given = 0  # as in `Notes`
        self.is_unsaved = False  # whether a change waits to be saved
        # Called after a change, to save it: `save`, or what has it called when the change has been shown.
        self.keep: Callable[[], object] = self.save
        self._begin(saved)

    def _begin(self, saved: SavedGame | None, time: TimeSettings = NO_LIMIT) -> None:
        self.saved = saved  # the game that it continues; None for a new one
        if saved is not None:
            moves = len(saved.node.moves)
            self.given = min(read_notes(saved.tree.root.properties).given, moves) if is_own(saved.tree) else moves
        self.tree = GameRecord.from_game(self.game) if saved is None else saved.tree
        self.node = self.tree.main_line[-1] if saved is None else saved.node  # that of the engine's position
        self.tree.application = APPLICATION
        self.editor = Editor(self.tree)  # changes the tree, so that changes can be undone
        if saved is None and self.tree.position(self.node).to_move != self.game.to_move:
            self.node = self.editor.change_turn(self.node, opponent(self.game.to_move))
            self.editor.edits.clear()
        self.handicap = self._handicap_stones()  # that it began with, whatever is edited later
        # Whether there is anything to save: something has been played or edited.
        self.has_content = bool(saved and saved.is_own and saved.game.moves)
        self.time = time if saved is None else saved.time
        limits = self.time if self._has_clock else NO_LIMIT  # which a program without clocks does not keep
        self.clock = GameClock(self.tree, limits, read_notes(self.tree.root.properties).used)
        self.engine.clock.settings = limits
        self._ends: dict[TreeNode, _End] = {}
        self._date = saved.tree.date if saved and saved.is_own else None
        # After a method that changes the game its `error` tells whether it could be saved.
        self.file = GameFile(self.folder, self._label(), None if saved is None else self._file_of(saved))
        if self.mode is not Mode.RECORD:
            self.editor.allow_undo(self.node)
        self._run_clock()

    def _file_of(self, saved: SavedGame) -> Path | None:
        """Returns the file that saving updates; None for a new one."""
        if not saved.is_record:
            return saved.path if saved.is_own else None
        # Elsewhere it is a file that somebody has made or copied, which only looks like one of ours.
        is_here = saved.path is not None and saved.path.parent.resolve() == self.folder.resolve()
        return saved.path if saved.is_edited and is_here else None

    @property
    def mode(self) -> Mode:
        """What people do with the game."""
        if self.saved is not None and self.saved.is_record:
            return Mode.RECORD
        return Mode.PAIR if len(self.humans) == 2 else Mode.GAME

    # Time.

    def pause(self, is_paused: bool) -> None:
        """Stops the clock, or lets that of the player to move run."""
        self._is_paused = is_paused
        self._run_clock()

    def _run_clock(self) -> None:
        """Has the clock of the player to move run, from the first move to the end of the game, at its last position."""
        self.clock.follow()
        is_playing = self.node is self.clock.last and any(node.move for node in self.node.path)
        is_over = self.result is not None or self.game.is_over
        is_running = is_playing and not (is_over or self._is_paused or self.mode is Mode.RECORD)
        self.clock.switch(self.game.to_move if is_running else None)

    def genmove(self) -> Future[Decision]:
        """Has the engine decide its move in the time that it has left; `commit` plays it."""
        colour = self.game.to_move
        if (left := self.clock.left(colour)) is not None:
            self.engine.clock.time_left(colour, *left)
        return self.engine.genmove()

    def lose_on_time(self) -> bool:
        """Ends the game if the time of the player to move is over, and saves it; returns whether it has."""
        colour = self.clock.running
        left = None if colour is None else self.clock.left(colour)
        if colour is None or left is None or left.seconds > 0:
            return False
        self._lose(colour, "T")
        return True

    @property
    def game(self) -> Game:
        """The position with its history."""
        return self.engine.game

    @property
    def result(self) -> str | None:
        """The result as SGF writes it ("W+3.5", "B+R", "0"); None while the game goes on from this position."""
        return self._ends[self.node].result if self.node in self._ends else None

    @property
    def is_counted(self) -> bool:
        """Whether this position has been counted; after two passes a player may also resign before that."""
        return self.node in self._ends and self._ends[self.node].dead is not None

    @property
    def dead(self) -> frozenset[int]:
        """The points of the stones that the count of this position removes; none if it has not been counted."""
        return (self.node in self._ends and self._ends[self.node].dead) or frozenset()

    def position(self, node: TreeNode) -> Game:
        """Returns the position of a node, which nobody may change; raises SgfError if a move before it is illegal."""
        if node is self.node:
            return self.game
        return self.tree.position(node, self.engine.rules, self.engine.komi)

    @property
    def is_humans_turn(self) -> bool:
        """Whether a person plays the next move."""
        return self.game.to_move in self.humans

    # Moves.

    def play(self, point: int | str) -> None:
        """Plays a person's move, a point or its name, which may be a pass, and saves the game.

        Raises UserError if the move is illegal, or the game is over.
        """
        if self.result:
            raise UserError(Phrase("error.gameOver"))
        game = self.game
        point = game.point(point)
        check_move(game, point)
        self.engine.play(game.to_move, point)
        self._note_move(self.game.moves[-1])
        self.save_soon()

    def _note_move(self, move: Move, comment: str = "") -> None:
        """Goes to the node of a move that has been played: a new variation if the tree goes on otherwise."""
        known = next((child for child in self.node.children if child.move == move), None)
        is_game = self.mode is Mode.GAME  # which is the main line, whatever its file has too
        if known is None or is_game:
            properties = {"C": [escaped(comment)]} if comment else {}
            known = self.editor.add(self.node, properties, move=move, first=is_game)
            if self.node is self.clock.last:
                self.clock.end_turn(known)
            self.has_content = True
        self.node = known
        self.tree.follow(known)
        self._run_clock()

    def show(self, node: TreeNode) -> None:
        """Goes to a position of the tree, from which people then play on."""
        self.engine.load(self.tree.position(node, self.engine.rules, self.engine.komi))
        self.node = node
        self.tree.follow(node)
        self._run_clock()

    def commit(self, decision: Decision) -> None:
        """Plays the engine's move and saves the game; resigns if the engine has decided that."""
        if decision.resign:
            self.resign()
            return
        self.engine.commit(decision)
        comment = decision.report.as_comment() if self._save_comments and decision.report is not None else ""
        self._note_move(self.game.moves[-1], comment)
        self.save_soon()

    @property
    def can_undo(self) -> bool:
        """Whether there is a person's move, resignation or other change to take back."""
        return self._last_edit is not None

    @property
    def _last_edit(self) -> Edit | None:
        """The last edit that is a person's; None if there is none."""
        edits = reversed(self.editor.edits)
        return next((edit for edit in edits if edit.move is None or edit.move.colour in self.humans), None)

    @property
    def annotation_to_undo(self) -> TreeNode | None:
        """The node whose comment or mark `undo` takes back, while the game stays; None for any other change."""
        edit = self._last_edit
        if edit is None or not edit.is_annotation:
            return None
        return edit.node if edit.node is self.node or self.mode is Mode.GAME else None

    def takes_back(self, node: TreeNode) -> bool:
        """Whether `undo` takes back the move of a node."""
        edit = self._last_edit
        return edit is not None and node.move is not None and (edit.node, edit.move) == (node.parent, node.move)

    def undo(self) -> bool:
        """Takes back a person's last change, which may be a resignation, and saves the game.

        If that is a move in a game against the engine, it is a person's last move with everything after it. If it is a
        comment or a mark there, the moves stay, also those that have followed. Returns whether it was a resignation in
        the position that is shown; raises UserError if no person has done anything yet.
        """
        edit = self._last_edit
        if edit is None:
            raise UserError("you have no move to take back")
        node, result, ends = self.node, self.result, len(self._ends)
        if self.annotation_to_undo is not None:
            self.editor.undo(self.editor.edits.index(edit))
        else:
            self.show(self._undo_edits())
            self.given = min(self.given, len(self.node.moves))
        self.has_content |= not (self.mode is Mode.RECORD and len(self._ends) < ends)  # a result is not saved there
        self.save_soon()
        return self.node is node and self.result != result

    def _undo_edits(self) -> TreeNode:
        """Undoes changes of the tree until one of a person is undone; returns the node to show.

        A game against the engine stays where it is unless its own node is taken back.
        """
        shown = self.node
        while True:
            edit = self.editor.edits[-1]
            before = self.editor.undo()
            if self.mode is not Mode.GAME or shown.is_gone:
                shown = before
            if edit.move is None or edit.move.colour in self.humans:
                return shown

    def resign(self, colour: int | None = None) -> None:
        """Ends the game by the resignation of a player, or of the one to move; raises UserError if the game is over."""
        if self.result:
            raise UserError(Phrase("error.gameOver"))
        self._lose(colour or self.game.to_move, "R")

    def _lose(self, colour: int, how: str) -> None:
        """Ends the game by the loss of a player, which a person may undo: "R" by resignation, "T" on time."""
        node = self.node
        self._ends[node] = self._end(f"{colour_letter(opponent(colour))}+{how}")

        def revert() -> None:
            self._ends.pop(node)
            if how == "T":
                self.clock.restart_turn()

        if colour in self.humans:
            self.editor.edits.append(Edit(node, revert))
        self._finish()

    def count(self, dead: Iterable[int]) -> None:
        """Counts a game that two passes have ended, without these dead stones, and saves it."""
        removed = frozenset(dead)
        end = self._ends.get(self.node) or self._end()  # a count that is disputed has the opponent of the first one
        self._ends[self.node] = replace(end, result=str(self.game.score(removed)), dead=removed)
        self._finish()

    def _end(self, result: str = "") -> _End:
        return _End(result, self.engine.name, self.engine.settings)

    def _finish(self) -> None:
        """Saves a game that has ended; what has been decided about somebody's record is only shown."""
        self._run_clock()
        self.has_content |= self.mode is not Mode.RECORD
        self.save_soon()

    # Games and files.

    def update_record(self, *, is_copy: bool = False) -> GameRecord:
        """Writes into the tree what there is to say about the game so far, and returns the tree.

        A copy is for a file in which editing does not continue.
        """
        root = self.tree.root
        if self.mode is Mode.RECORD:
            is_edited = not is_copy and (self.has_content or self.file.path is not None)
            notes = replace(read_notes(root.properties), is_edited=is_edited)
        else:
            ends = (self._ends[node] for node in reversed(self.tree.main_line) if node in self._ends)
            notes = self._update_info(next(ends, self._end()))
        if (properties := notes.added_to(root.properties)) != root.properties:
            root.properties = properties
        return self.tree

    def _update_info(self, end: _End) -> Notes:
        """Writes who plays, by which rules, in which time and with which result; returns the program's own notes."""
        tree, settings = self.tree, end.settings
        rank = "" if settings.rank is None else str(settings.rank)
        human, engine = (HUMAN, ""), (end.engine, rank)
        players = [human if colour in self.humans else engine for colour in (BLACK, WHITE)]
        (tree.black, tree.black_rank), (tree.white, tree.white_rank) = players
        tree.rules, tree.komi, tree.handicap = rules_text(self.game.rules), self.game.komi, self._handicap_stones()
        tree.date = datetime.date.today().isoformat() if self._date is None else self._date
        tree.result, tree.overtime = end.result, overtime_text(self.time)
        tree.time_limit = None if self.time == NO_LIMIT else self.time.main
        if self.clock.last not in self._ends:
            self.clock.note_turn()
        used, limits = dict[int, float](), Limits(settings.visits, settings.seconds)
        if self.time == NO_LIMIT:  # otherwise the moves say what is left, and the engine needs no limit of its own
            used, limits = {colour: self.clock.used(colour) for colour in (BLACK, WHITE)}, settings.limits()
        return Notes(used, limits if self.mode is Mode.GAME else Limits(), self.given)

    def _handicap_stones(self) -> int:
        """Returns how many handicap stones the root has now."""
        stones = (Move(colour, point) for point, colour in self.tree.root.setup.items() if colour != EMPTY)
        return count_handicap(stones, ())

    def save_soon(self) -> None:
        """Has a change saved, once for all changes until then."""
        if not self.is_unsaved:
            self.is_unsaved = True
            self.keep()

    def save(self) -> bool:
        """Saves the game if there is anything to save; returns False and sets the file's `error` if that fails."""
        self.is_unsaved = False
        is_kept = self.has_content and (self.saved is None or self.saved.is_kept)
        return not is_kept or self.file.save(self.update_record())

    def save_as(self, name: str) -> bool:
        """Saves the game to another file from now on; returns False and sets the file's `error` if that fails."""
        return self.file.save_as(self.update_record(), name)

    def load(self, saved: SavedGame) -> None:
        """Continues a saved game as `begin` begins one; its opponent, if any, plays at its rank and its limits."""
        self.engine.load(saved.game)
        if saved.opponent is not None:
            limits, settings = saved.opponent.limits, replace(self.engine.settings, rank=saved.opponent.rank)
            if not limits.is_endless or saved.time != NO_LIMIT:
                settings = replace(settings, seconds=limits.seconds, visits=limits.visits)
            self.engine.settings = settings
        self.humans = saved.humans
        self._begin(saved)

    def begin(self, game: Game, humans: frozenset[int], time: TimeSettings = NO_LIMIT) -> None:
        """Begins a game from a position; this one stays if the engine refuses the board, which raises UserError."""
        given, own = len(game.moves), self.given
        if game.setup_stones == self.game.setup_stones:  # whose moves both games have, and no earlier ones
            own = max(0, own - len(self.node.moves) + len(self.game.moves))
        goes_on = self.mode is Mode.GAME and self.humans == humans
        self.engine.load(game)
        self.humans, self.given = humans, min(own, given) if goes_on else given
        self._begin(None, time)

    @property
    def numbers(self) -> range:
        """The numbers of the moves of the main line that were played here, and are not `given`."""
        return range(self.given + 1, len(self.tree.moves) + 1)

    def _label(self) -> str:
        """Returns the board and the opponent for the name of a new file."""
        rank = self.engine.settings.rank
        engine = "engine" if rank is None else f"engine-{rank}"
        label = {Mode.GAME: engine, Mode.PAIR: "two-players", Mode.RECORD: "edited"}[self.mode]
        return f"{self.engine.width}x{self.engine.height}-{label}"


def check_move(game: Game, point: int) -> None:
    """Raises UserError if a move of the player to move is illegal, also by superko; it may be a pass."""
    if point == PASS or game.is_legal(point):
        return
    game.copy().play(game.to_move, point)  # raises the reason, unless it is superko
    raise UserError(Phrase("error.superko", {"move": game.vertex(point)}))

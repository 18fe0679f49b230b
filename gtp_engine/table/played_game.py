"""A game that people play at this computer: whose turn it is, its result, and its file, written after every change.

The terminal and the web page show the same game; here is what does not depend on how it is shown. A game is a tree with
variations: whoever plays both colours may play in any of its positions, a game against the engine goes on at its end.
"""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..base.errors import UserError
from ..engine.clock import NO_LIMIT, TimeSettings
from ..engine.engine import Decision, Engine
from ..engine.settings import EngineSettings
from ..go.coords import BLACK, EMPTY, PASS, WHITE, colour_letter, opponent
from ..go.game import Game, Move, count_handicap
from ..go.sgf import Edit, Editor, GameRecord, TreeNode
from ..go.sgf.record import APPLICATION
from ..go.sgf.values import escaped, rules_text
from .game_clock import GameClock, overtime_text
from .loading import HUMAN, SavedGame
from .notes import Notes, read_notes
from .saving import GameFile

if TYPE_CHECKING:
    from concurrent.futures import Future


@dataclass(frozen=True)
class _End:
    """How a game ended, and whom it was played against: the engine may be changed before another game begins.

    Attributes:
        result: As SGF writes it.
        engine: The engine's name.
        settings: The engine's settings.
    """

    result: str
    engine: str
    settings: EngineSettings


class PlayedGame:
    """The game on the engine's board. `load`, `begin` and `restart` put another one in its place.

    Attributes:
        engine: The engine, with the position.
        humans: The colours that people play; the engine plays the others.
        folder: The folder of new files.
        file: The game's file. After a method that changes the game its `error` tells whether it could be saved.
        saved: The saved game that it continues; None for a new one.
        tree: The game with its variations and comments.
        editor: Changes it, so that changes can be undone.
        node: The node of the engine's position.
        is_record: Whether it is somebody's record that is looked at: players, result and date stay those of the record.
        handicap: The handicap stones that it began with, whatever has been edited since.
        time: The time limits of the game.
        clock: The clocks of the players; without limits if this program does not show a clock.
        has_content: Whether there is anything to save: something has been played or edited.
        is_unsaved: Whether a change waits to be saved.
        keep: Called after a change, to save it: `save`, or what has it called when the change has been shown.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        humans: frozenset[int],
        folder: Path,
        comments: bool = False,
        saved: SavedGame | None = None,
        as_record: bool = False,
        has_clock: bool = False,
    ) -> None:
        """Begins with the position of the engine.

        Args:
            engine: The engine.
            humans: The colours that people play.
            folder: The folder for the records of new games.
            comments: Whether to save the engine's win rate, score and main line with its moves.
            saved: The saved game that the engine's position comes from, if any.
            as_record: Whether to look at it as somebody's record (`is_record`).
            has_clock: Whether players lose on time in games with time limits; otherwise their clocks stand still.
        """
        self.engine = engine
        self.humans = humans
        self.folder = folder
        self._save_comments = comments
        self._has_clock = has_clock
        self._is_paused = False
        self.is_unsaved = False
        self.keep: Callable[[], object] = self.save
        self._begin(saved, as_record=as_record)

    def _begin(self, saved: SavedGame | None, *, as_record: bool = False, time: TimeSettings = NO_LIMIT) -> None:
        self.saved = saved
        self.tree = GameRecord.from_game(self.game) if saved is None else saved.tree
        self.node = self.tree.main_line[-1] if saved is None else saved.node
        self.tree.application = APPLICATION
        self.editor = Editor(self.tree)
        if saved is None and self.tree.position(self.node).to_move != self.game.to_move:
            self.node = self.editor.change_turn(self.node, opponent(self.game.to_move))
            self.editor.edits.clear()
        self.handicap = self._handicap_stones()
        self.is_record = as_record
        self.has_content = bool(saved and saved.is_own and saved.game.moves)
        self.time = saved.time if saved and not as_record else time
        limits = self.time if self._has_clock else NO_LIMIT
        self.clock = GameClock(self.tree, limits, read_notes(self.tree.root.properties).used)
        self.engine.clock.settings = limits
        self._ends: dict[TreeNode, _End] = {}
        self._dead: dict[TreeNode, frozenset[int]] = {}
        self._date = saved.date if saved and saved.is_own else None
        self.file = GameFile(self.folder, self._label(), None if saved is None else self._file_of(saved))
        if not as_record:
            self.editor.allow_undo(self.node)
        self._run_clock()

    def _file_of(self, saved: SavedGame) -> Path | None:
        """Returns the file that saving updates; None for a new one."""
        if not self.is_record:
            return saved.path if saved.is_own else None
        # Elsewhere it is a file that somebody has made or copied, which only looks like one of ours.
        is_here = saved.path is not None and saved.path.parent.resolve() == self.folder.resolve()
        return saved.path if saved.is_edited and is_here else None

    # Time.

    def pause(self, is_paused: bool) -> None:
        """Stops the clock, or lets that of the player to move run."""
        self._is_paused = is_paused
        self._run_clock()

    def _run_clock(self) -> None:
        """Has the clock of the player to move run, from the first move to the end of the game, at its last position."""
        self.clock.follow()
        is_playing = self.node is self.clock.last and any(node.move for node in self.node.path)
        is_running = is_playing and not (self.result or self.game.is_over or self.is_record or self._is_paused)
        self.clock.switch(self.game.to_move if is_running else None)

    def genmove(self) -> "Future[Decision]":
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
        return self.result is not None and self.node in self._dead

    @property
    def dead(self) -> frozenset[int]:
        """The points of the stones that the count of this position removes; none if it has not been counted."""
        return self._dead.get(self.node, frozenset())

    @property
    def is_study(self) -> bool:
        """Whether people play both colours, so that they may play on in any position."""
        return len(self.humans) == 2

    @property
    def is_humans_turn(self) -> bool:
        """Whether a person plays the next move."""
        return self.game.to_move in self.humans

    # Moves.

    def play(self, point: int | str) -> None:
        """Plays a person's move and saves the game.

        Args:
            point: The point or its name; it may be a pass.

        Raises:
            UserError: The move is illegal, or the game is over.
        """
        if self.result:
            raise UserError("the game is over")
        game = self.game
        point = game.point(point)
        check_move(game, point)
        self.engine.play(game.to_move, point)
        self._note_move(self.game.moves[-1])
        self.save_soon()

    def _note_move(self, move: Move, comment: str = "") -> None:
        """Goes to the node of a move that has been played: a new variation if the tree goes on otherwise."""
        known = next((child for child in self.node.children if child.move == move), None)
        if known is None or not self.is_study:  # a game against the engine is the main line, whatever its file has too
            properties = {"C": [escaped(comment)]} if comment else {}
            known = self.editor.add(self.node, properties, move=move, first=not self.is_study)
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
        has_comment = self._save_comments and decision.report is not None
        self._note_move(self.game.moves[-1], decision.report.as_comment() if has_comment and decision.report else "")
        self.save_soon()

    @property
    def can_undo(self) -> bool:
        """Whether there is a person's move, resignation or other change to take back."""
        return self._last_change is not None

    @property
    def _last_change(self) -> int | None:
        """The place among the edits of the last one that is a person's; None if there is none."""
        edits = self.editor.edits
        places = reversed(range(len(edits)))
        return next((n for n in places if (move := edits[n].move) is None or move.colour in self.humans), None)

    @property
    def annotation_to_undo(self) -> TreeNode | None:
        """The node whose comment or mark `undo` takes back, while the game stays; None for any other change."""
        place = self._last_change
        if place is None:
            return None
        edit = self.editor.edits[place]
        return edit.node if edit.is_annotation and (edit.node is self.node or not self.is_study) else None

    def takes_back(self, node: TreeNode) -> bool:
        """Whether `undo` takes back the move of a node."""
        place = self._last_change
        if place is None or node.move is None:
            return False
        edit = self.editor.edits[place]
        return edit.node is node.parent and edit.move == node.move

    def undo(self) -> bool:
        """Takes back a person's last change, which may be a resignation, and saves the game.

        If that is a move in a game against the engine, it is a person's last move with everything after it. If it is a
        comment or a mark there, the moves stay, also those that have followed.

        Returns:
            Whether it was a resignation in the position that is shown.

        Raises:
            UserError: No person has done anything yet.
        """
        if not self.can_undo:
            raise UserError("you have no move to take back")
        node, result, ends = self.node, self.result, len(self._ends)
        if self.annotation_to_undo is not None:
            self.editor.undo(cast("int", self._last_change))
        else:
            self.show(self._undo_edits())
        self.has_content |= not (self.is_record and len(self._ends) < ends)  # a result is not saved there
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
            if self.is_study or shown.is_gone:
                shown = before
            if edit.move is None or edit.move.colour in self.humans:
                return shown

    def resign(self, colour: int | None = None) -> None:
        """Ends the game by the resignation of a player, by default of the one to move, and saves it.

        Raises:
            UserError: The game is over.
        """
        if self.result:
            raise UserError("the game is over")
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
        removed = self._dead[self.node] = frozenset(dead)
        end = self._ends.get(self.node) or self._end()  # a count that is disputed has the opponent of the first one
        self._ends[self.node] = replace(end, result=str(self.game.score(removed)))
        self._finish()

    def _end(self, result: str = "") -> _End:
        """Returns an end of the game against the present engine."""
        return _End(result, self.engine.name, self.engine.settings)

    def _finish(self) -> None:
        """Saves a game that has ended; what has been decided about somebody's record is only shown."""
        self._run_clock()
        self.has_content |= not self.is_record
        self.save_soon()

    # Games and files.

    def record(self, *, is_copy: bool = False) -> GameRecord:
        """Returns the record of the game so far, with its variations; it is the game's own tree.

        Args:
            is_copy: Whether it is written to a file in which editing does not continue.
        """
        if not self.is_record:
            end = self._last_end()
            rank = "" if end.settings.rank is None else str(end.settings.rank)
            names = {colour: HUMAN if colour in self.humans else end.engine for colour in (BLACK, WHITE)}
            ranks = {colour: "" if colour in self.humans else rank for colour in (BLACK, WHITE)}
            tree = self.tree
            tree.rules, tree.komi = rules_text(self.game.rules), self.game.komi
            tree.handicap = self._handicap_stones()
            tree.black, tree.white, tree.result = names[BLACK], names[WHITE], end.result
            tree.black_rank, tree.white_rank = ranks[BLACK], ranks[WHITE]
            tree.date = datetime.date.today().isoformat() if self._date is None else self._date
            tree.time_limit = None if self.time == NO_LIMIT else self.time.main
            tree.overtime = overtime_text(self.time)
            if self.clock.last not in self._ends:
                self.clock.note_turn()
        root = self.tree.root
        if (properties := self._notes(is_copy=is_copy).added_to(root.properties)) != root.properties:
            root.properties = properties
        return self.tree

    def _handicap_stones(self) -> int:
        """Returns how many handicap stones the root has now."""
        stones = (Move(colour, point) for point, colour in self.tree.root.setup.items() if colour != EMPTY)
        return count_handicap(stones, ())

    def _last_end(self) -> _End:
        """Returns the last end on the main line, or one without a result."""
        return next((self._ends[node] for node in reversed(self.tree.main_line) if node in self._ends), self._end())

    def _notes(self, *, is_copy: bool) -> Notes:
        if self.is_record:
            is_edited = not is_copy and (self.has_content or self.file.path is not None)
            return replace(read_notes(self.tree.root.properties), is_edited=is_edited)
        settings = self._last_end().settings
        if self.time == NO_LIMIT:
            limits = settings.limits()
            seconds, visits = limits.seconds, limits.visits
            used = {colour: self.clock.used(colour) for colour in (BLACK, WHITE)}
        else:  # the moves say what is left, and the engine needs no limit of its own
            seconds, visits, used = settings.seconds, settings.visits, {}
        return Notes(used) if self.is_study else Notes(used, seconds, visits)

    def save_soon(self) -> None:
        """Has a change saved, once for all changes until then."""
        if not self.is_unsaved:
            self.is_unsaved = True
            self.keep()

    def save(self) -> bool:
        """Saves the game if there is anything to save; returns False and sets the file's `error` if that fails."""
        self.is_unsaved = False
        return not self.has_content or self.file.save(self.record())

    def load(self, saved: SavedGame, *, as_record: bool = False) -> None:
        """Continues a saved game instead of this one; its opponent plays at its rank and within its limits again.

        Somebody's record, which has no opponent, leaves the engine's settings as they are, also if it looks like ours.

        Args:
            saved: The saved game.
            as_record: Whether to look at it as somebody's record (`is_record`).

        Raises:
            UserError: The engine refuses its board; the present game stays.
        """
        self.engine.load(saved.game)
        if saved.opponent is not None and not as_record:
            self.engine.settings = replace(self.engine.settings, rank=saved.opponent.rank)
            if saved.opponent.has_limits or saved.time != NO_LIMIT:
                limits: dict[str, Any] = {"seconds": saved.opponent.seconds, "visits": saved.opponent.visits}
                self.engine.settings = replace(self.engine.settings, **limits)
        self.humans = saved.humans
        self._begin(saved, as_record=as_record)

    def begin(self, game: Game, humans: frozenset[int], time: TimeSettings = NO_LIMIT) -> None:
        """Begins a new game instead of this one, from a position.

        Args:
            game: The position.
            humans: The colours that people play.
            time: The time limits.

        Raises:
            UserError: The engine refuses its board; the present game stays.
        """
        self.engine.load(game)
        self.humans = humans
        self._begin(None, time=time)

    def restart(self) -> None:
        """Begins a new game with the same board, handicap, komi, rules and players."""
        start = self.tree.position(self.tree.root, self.engine.rules, self.engine.komi)
        self.begin(start, self.humans)

    def _label(self) -> str:
        """Returns the board and the opponent for the name of a new file."""
        if self.is_record:
            return f"{self.engine.width}x{self.engine.height}-edited"
        rank = self.engine.settings.rank
        players = "two-players" if len(self.humans) == 2 else "engine" if rank is None else f"engine-{rank}"
        return f"{self.engine.width}x{self.engine.height}-{players}"


def check_move(game: Game, point: int) -> None:
    """Checks a move of the player to move, or a pass.

    Raises:
        UserError: The move is illegal, also by superko.
    """
    if point == PASS or game.is_legal(point):
        return
    game.copy().play(game.to_move, point)  # raises the reason, unless it is superko
    raise UserError(f"illegal move: {game.vertex(point)} repeats an earlier position")

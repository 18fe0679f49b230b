"""Saved games: the file of a game that is being played, and games that can be continued.

The file is written after every move, so that a killed program loses nothing. What the program notes there for itself is
in private properties of the root, which FF[4] allows: it has properties for the time that is left (`game_clock`), but
none for the time used in a game without a limit, and none for a limit of one player alone.
"""

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base.errors import UserError
from ..base.fields import Range
from ..base.files import is_same_file, remove_leftovers, write_bytes
from ..base.languages.texts import Phrase, texts
from ..base.messages import plural
from ..engine.clock import NO_LIMIT, TimeSettings
from ..engine.ranks import Rank, as_rank, engine_at
from ..go.coords import BLACK, WHITE
from ..go.game import Game
from ..go.rules import Rules
from ..go.sgf import (
    GameRecord,
    Properties,
    SgfError,
    Terms,
    TreeNode,
    read_number,
    read_sgf,
    read_text,
    shown_result,
    terms_of,
    write_sgf,
)
from ..search.request import Limits
from .game_clock import read_time_settings

BOTH = frozenset((BLACK, WHITE))
HUMAN = "human"  # the name that `play` gives human players in its records
YOU = Phrase("you")  # what the person is called
_PROGRAM = "gtp_engine"
# The engine's name in a record (`Engine.name`): the program, a network if there was one, a rank if it played at one.
_ENGINE_NAME = re.compile(_PROGRAM + r"(?: (?!\d+[kd]$)(?P<network>.+?))?(?: (?P<rank>\d+[kd]))?")
_UNFINISHED = ("", "?", "void")  # results in RE, in lower case, of games that nobody has won or drawn
_USED = {BLACK: "GEBT", WHITE: "GEWT"}  # seconds
_SECONDS, _VISITS, _GIVEN, _EDITED = "GESEC", "GEVIS", "GEGIV", "GEDIT"
# Those of the options --seconds and --visits, and of moves; of the time used, 0 is valid too.
_SECONDS_RANGE, _COUNT_RANGE, _USED_RANGE = Range(0, above=True), Range(1, whole=True), Range(0)
_OUR_NAME = re.compile(r"\d{4}-\d\d-\d\d-\d{6}(-.*)?\.sgf")  # of new files


@dataclass(frozen=True)
class Notes:
    """The notes of a game."""

    used: dict[int, float] = field(default_factory=dict)  # seconds, by player; empty with time limits
    limits: Limits = Limits()  # the engine's for a move, as far as they are known
    given: int = 0  # the moves that it began with and that others have played, such as those of a record
    is_edited: bool = False  # whether it is somebody's record that is edited here

    def added_to(self, properties: Properties) -> Properties:
        """Returns the properties of a root with these notes instead of those that it has."""
        is_timed = any(self.used.values())
        values = {name: f"{self.used.get(colour, 0.0):.1f}" for colour, name in _USED.items() if is_timed}
        if self.limits.seconds is not None:
            values[_SECONDS] = f"{self.limits.seconds:g}"
        if self.limits.visits is not None:
            values[_VISITS] = str(self.limits.visits)
        if self.given:
            values[_GIVEN] = str(self.given)
        if self.is_edited:
            values[_EDITED] = "1"
        others = {name: found for name, found in properties.items() if name not in _NAMES}
        return others | {name: [value.encode()] for name, value in values.items()}


_NAMES = {*_USED.values(), _SECONDS, _VISITS, _GIVEN, _EDITED}


def read_notes(properties: Properties) -> Notes:
    """Returns the notes in the properties of a root; what is invalid is left out."""

    def number(name: str, accepted: Range) -> float | None:
        value = read_number(read_text(properties, name))
        return None if value is None or value not in accepted else value

    def whole(name: str) -> int | None:
        value = number(name, _COUNT_RANGE)
        return None if value is None else int(value)

    used = {colour: number(name, _USED_RANGE) or 0.0 for colour, name in _USED.items()}
    limits = Limits(whole(_VISITS), number(_SECONDS, _SECONDS_RANGE))
    return Notes(used, limits, whole(_GIVEN) or 0, _EDITED in properties)


@dataclass(frozen=True)
class Opponent:
    """The engine that played a saved game."""

    network: str | None  # the name of its network; None for rollouts
    rank: Rank | None  # its rank; None for full strength
    limits: Limits = Limits()  # for a move, as in `Notes`


@dataclass(frozen=True)
class SavedGame:
    """A saved game, up to the move after which it continues."""

    path: Path | None  # its file; None for a record that is in no file
    tree: GameRecord  # the whole record, with its variations and comments
    node: TreeNode  # the node of `game`
    terms: Terms  # its rules and its komi
    humans: frozenset[int]  # the colours that humans play: those of the record, or the player to move if it names none
    opponent: Opponent | None  # the engine that played it; None if `play` did not save it, or for two humans
    # Whether `play` saved it, alone in its file, and it is continued from its end: saving may then update the file.
    is_own: bool
    # Whether its file says that somebody's record is edited in it: saving updates it too if it is in the folder of
    # saved games. A file with several games is never updated.
    is_edited: bool
    # The limits of a game that `play` saved, also if it continues after an earlier move; `NO_LIMIT` for other records.
    time: TimeSettings
    is_record: bool = False  # whether it is looked at as somebody's record (`as_record`)
    is_kept: bool = True  # whether what is played on is saved; not so for a problem
    # What there is to know about the file: the notices of its `Terms`, that it has other games too, or that the game
    # ends before a move that cannot be played, and why not.
    remarks: tuple[Phrase, ...] = ()

    @property
    def game(self) -> Game:
        """The position with its history, komi and rules; not kept, since that of a long game takes much memory."""
        return self.tree.position(self.node, self.terms.rules, self.terms.komi)

    def as_record(self) -> "SavedGame":
        """Returns it as somebody's record that is looked at: both colours are people's, also if it looks like ours."""
        return replace(self, humans=BOTH, opponent=None, time=NO_LIMIT, is_record=True)

    def in_words(self) -> str:
        """Returns a line about what is continued, and whether its file is updated."""
        moves = len(self.node.moves)
        place = f"after {plural(moves, 'move')}" if moves else "before the first move"
        saving = "" if self.is_own else "it will be saved as a new game"
        return "; ".join(filter(None, (f"continuing {self.path} {place}", *map(texts().say, self.remarks), saving)))


def open_game(
    path: Path, *, move: int | None = None, rules: Rules | None = None, komi: float | None = None
) -> SavedGame:
    """Reads a saved game to continue it after a number of moves, or after all if it is unfinished.

    Rules and komi replace the record's, unless they are None. Raises UserError if the file is not a game that can be
    continued, with the reason, and OSError if it cannot be read.
    """
    tree = read_sgf(path)
    if move is None and is_finished(tree):
        count = len(tree.moves)
        raise UserError(
            f"{path}: the game is finished ({shown_result(tree.result)}); to continue it after move N, 0 to {count}, "
            "add --move N, or in a game type load FILE N; `gtp_engine review` finds the mistakes"
        )
    return open_tree(tree, path, move=move, rules=rules, komi=komi)


def open_tree(
    tree: GameRecord,
    path: Path | None = None,
    *,
    move: int | None = None,
    rules: Rules | None = None,
    komi: float | None = None,
) -> SavedGame:
    """Returns the main line of a tree as `open_game` does that of a file, also if it is finished.

    Without a number of moves it ends before a move that cannot be played. Raises UserError if the first move or a
    wanted one cannot be, or if there are fewer moves.
    """
    line = tree.main_line
    played = [node for node in line if node.move is not None]
    if move is not None and move > len(played):
        raise UserError(f"{path or tree.source}: there is no move {move}; the game has {plural(len(played), 'move')}")
    # With what is set up before the next move.
    node = line[-1] if move is None or move == len(played) else played[move].parent or tree.root
    if move is not None:
        node.children.clear()  # the game goes on from there
    refusal, terms = None, terms_of(tree, rules, komi)
    try:
        game = tree.position(node, terms.rules)
    except SgfError:
        if move is not None:
            raise
        refusal = tree.end_before_illegal_move(terms.rules)
        node = tree.main_line[-1]
        game = tree.position(node, terms.rules)
    notes = read_notes(tree.root.properties)
    is_ours = path is not None and not notes.is_edited and is_own(tree)
    is_whole = tree.is_whole_file and node is line[-1] and refusal is None
    names = {BLACK: tree.black, WHITE: tree.white}
    remarks = list(terms.notices)
    if not tree.is_whole_file:
        remarks.append(Phrase("record.firstGame"))
    if refusal is not None and refusal.phrase is not None:  # without the file, which is known
        remarks.append(Phrase("error.recordEnds", {"problem": refusal.phrase.values["problem"]}))
    return SavedGame(
        path=path,
        tree=tree,
        node=node,
        terms=terms,
        humans=frozenset(colour for colour, name in names.items() if name == HUMAN) or frozenset((game.to_move,)),
        opponent=saved_opponent(tree, notes),
        is_own=is_ours and not is_finished(tree) and is_whole,
        is_edited=path is not None and notes.is_edited and is_whole,
        time=read_time_settings(tree.root.properties) if is_ours else NO_LIMIT,
        remarks=tuple(remarks),
    )


def find_game(name: str, folder: Path) -> Path:
    """Returns the file that a player names: a path, or the name of a file in the folder, with or without `.sgf`.

    Raises UserError if it is not found, or is a folder.
    """
    path = Path(os.path.expanduser(name))  # unchanged if there is no such user
    candidates = (path, folder / path, folder / f"{name}.sgf")
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    if name and any(candidate.is_dir() for candidate in candidates):
        raise UserError(f"{name} is a folder: name a file in it")
    raise UserError(f"no saved game {name!r}: no such file, and none in {folder}")


def is_own(record: GameRecord) -> bool:
    """Whether a record is of a game that a person has played with this program."""
    return record.application.startswith(_PROGRAM) and HUMAN in (record.black, record.white)


def is_finished(record: GameRecord) -> bool:
    """Whether somebody has won the game of a record, or it was drawn."""
    return record.result.strip().lower() not in _UNFINISHED


def saved_opponent(record: GameRecord, notes: Notes) -> Opponent | None:
    """Returns the engine that played a game; None if `play` did not save it."""
    if not is_own(record):
        return None
    name = record.white if record.black == HUMAN else record.black
    match = _ENGINE_NAME.fullmatch(name)
    if match is None:
        return None
    try:
        rank = as_rank(match["rank"])
    except UserError:
        return None  # a rank of another version
    return Opponent(match["network"], rank, notes.limits)


def called(record: GameRecord) -> dict[int, Phrase]:
    """Returns what people call those players of a record that are not called by a name: a person, and this program."""
    if not is_own(record) or record.black == record.white:
        return {}
    person, engine = (BLACK, WHITE) if record.black == HUMAN else (WHITE, BLACK)
    found = {person: YOU}
    if (other := saved_opponent(record, Notes())) is not None:
        found[engine] = engine_at(other.rank)
    return found


class GameFile:
    """The file of one game. A new file never replaces an existing one, and a file that another program has changed
    since it was last read or written here stays as that program left it: the game goes on in a new file.

    Attributes:
        path: The file, which is updated; None before a new one is first written, in a folder that is made when needed.
        error: The last failure in one line; None after a success.
        notice: Why the last save went to another file than the one before, in one line; None if it did not.
    """

    def __init__(self, folder: Path, label: str = "", path: Path | None = None) -> None:
        self._folder = folder
        self._name = "-".join(filter(None, [time.strftime("%Y-%m-%d-%H%M%S"), label]))
        self.path = path
        self.error: str | None = None
        self.notice: str | None = None
        self._content = None if path is None else _content(path)
        remove_leftovers(folder, ".sgf")

    def save(self, record: GameRecord) -> bool:
        """Writes the record over its earlier state; returns False and sets `error` if that fails."""
        self.notice = None
        try:
            if self.path is None:
                self.path = self._write_new(record)
            elif (found := _content(self.path)) in (None, self._content):
                content = record.to_sgf().encode("utf-8", "replace")
                if found != content:  # or it would seem to be the game played last
                    write_bytes(self.path, content)
            else:
                changed, self.path = self.path, self._write_new(record)
                self.notice = f"another program has changed {changed}: this game is now saved to {self.path}"
        except OSError as error:
            self.error = f"cannot save to {self.path or self._folder}: {error.strerror or error}"
            return False
        self.error, self._content = None, _content(self.path)
        return True

    def save_as(self, record: GameRecord, name: str) -> bool:
        """Writes to another file, which later saves then update; refuses to replace an existing file.

        The game's file before, if it is in the folder and has a name of ours, is removed, also if it was continued
        here: it would stay behind the game, and be continued instead. One that the player has named, or that another
        program has changed, stays.
        """
        try:
            path = Path(name).expanduser()
            if self.path is not None and (path == self.path or is_same_file(path, self.path)):
                return self.save(record)
            write_sgf(record, path, overwrite=False)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~ has no home folder
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.error = f"cannot save to {name}: {reason}"
            return False
        self._remove_ours()
        self.path, self.error, self.notice, self._content = path, None, None, _content(path)
        return True

    def _remove_ours(self) -> None:
        if self.path is None or self._content is None or not _OUR_NAME.fullmatch(self.path.name):
            return
        with suppress(OSError):
            if self.path.parent.samefile(self._folder) and _content(self.path) == self._content:
                self.path.unlink()

    def _write_new(self, record: GameRecord) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        path, number = self._folder / f"{self._name}.sgf", 1
        while True:
            with suppress(FileExistsError):
                write_sgf(record, path, overwrite=False)
                return path
            number += 1
            path = path.with_name(f"{self._name}-{number}.sgf")


def _content(path: Path) -> bytes | None:
    """Returns what is in a file; None if it cannot be read."""
    with suppress(OSError):
        return path.read_bytes()
    return None

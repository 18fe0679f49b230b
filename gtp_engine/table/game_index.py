"""The saved games and what their files say, which the user's database remembers until a file changes."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from ..base.errors import UserError
from ..base.files import files_with, is_same_file
from ..base.plain import as_json, from_json
from ..engine.ranks import as_rank
from ..go.coords import BLACK, WHITE
from ..go.sgf import GameRecord, read_sgf
from .database import Change, Database
from .saved_games import HUMAN, is_finished, is_own, read_notes, saved_opponent


@dataclass(frozen=True)
class SavedFacts:
    """What a file says about its game.

    Attributes:
        key: What identifies the game (`game_key`).
        day: The day of the last move, in ISO form, with the time in the lists of games.
        width, height: The board.
        players: The names of Black and White.
        opponent: The rank of the engine that played against a person, "max" for full strength; "" for other games.
        own: The colour of the person who played against the engine; 0 for other games.
        result: The result as SGF writes it; "" while a game that was played here is unfinished.
        moves: The number of moves.
        is_edited: Whether it is somebody's record that was edited here.
    """

    key: str
    day: str
    width: int
    height: int
    players: tuple[str, str]
    opponent: str
    own: int
    result: str
    moves: int
    is_edited: bool

    @property
    def is_unfinished(self) -> bool:
        """Whether it was played here and can be continued."""
        return not self.result and not self.is_edited


def as_text(facts: SavedFacts | None) -> str:
    """Returns facts as text for the database."""
    return "" if facts is None else as_json(facts)


def from_text(text: str) -> SavedFacts | None:
    """Returns facts from their text; None if it has none, or another version's."""
    with suppress(ValueError):
        found: SavedFacts = from_json(SavedFacts, text)
        as_rank(found.opponent)  # ValueError for one of another version
        return found if found.own in (0, BLACK, WHITE) else None
    return None


def game_key(record: GameRecord) -> str:
    """Returns what identifies the game of a main line: its moves, komi and rules, whatever else the record says."""
    line = record.main_line
    played = [(sorted(node.setup.items()), node.move and tuple(node.move)) for node in line if node.setup or node.move]
    game = record.width, record.height, record.komi, record.rules, played
    return hashlib.sha256(repr(game).encode()).hexdigest()[:20]


def _saved_games(database: Database, folder: Path) -> list[tuple[Path, SavedFacts]]:
    """Returns the games in the folder of saved games (`games_of_user`), the latest first."""
    known = {path: (stamp, facts) for path, stamp, facts in database.rows("SELECT path, stamp, facts FROM games")}
    found, changes = list[tuple[int, Path, SavedFacts]](), list[Change]()
    prefix = _as_key(f"{folder.resolve()}{os.sep}")
    for path in games_of_user(folder):
        with suppress(OSError):
            state, name = path.stat(), prefix + _as_key(path.name)
            stamp = f"{state.st_mtime_ns} {state.st_size}"
            before, text = known.pop(name, ("", ""))
            if before != stamp:
                text = as_text(_read(path, date.fromtimestamp(state.st_mtime).isoformat()))
                changes.append(Change("INSERT OR REPLACE INTO games VALUES (?, ?, ?)", (name, stamp, text)))
            if (facts := from_text(text)) is not None:
                found.append((state.st_mtime_ns, path, replace(facts, day=_minute(state.st_mtime))))
    gone = (name for name in known if name.startswith(prefix))
    changes += [Change("DELETE FROM games WHERE path = ?", (name,)) for name in gone]
    if changes:
        database.change(*changes)
    return [(path, facts) for _, path, facts in sorted(found, key=lambda each: each[:2], reverse=True)]


def _as_key(path: str) -> str:
    """Returns a path, or a part of one, as the database spells it: what is not UTF-8 is escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def games_of_user(folder: Path) -> Iterator[Path]:
    """Yields the records in a folder that the user may write: several users may share the folder of a checkout."""
    return (path for path in files_with((".sgf",), folder) if os.access(path, os.W_OK))


def unfinished_games(folder: Path, other_than: Path | None = None, *, with_edited: bool = False) -> list[Path]:
    """Returns the games in a folder that were played here and can be continued, the latest first.

    The file `other_than`, by whatever path it is named, is left out. Records edited here are included `with_edited`.
    """
    found = _saved_games(Database(), folder)
    wanted = [path for path, facts in found if facts.is_unfinished or (with_edited and facts.is_edited)]
    return [path for path in wanted if other_than is None or not is_same_file(path, other_than)]


def latest_unfinished(folder: Path, *, with_edited: bool = False) -> Path:
    """Returns the first of the `unfinished_games` of a folder; raises UserError if there is none."""
    for path in unfinished_games(folder, with_edited=with_edited):
        return path
    raise UserError(f"no unfinished game in {folder}")


class UserGame(NamedTuple):
    """A game that was played or reviewed here.

    Attributes:
        name: The file in the folder of saved games, without its suffix; "" for somebody's game that was only reviewed.
        facts: What its record says.
        review: What opening it shows at once: "review", "lesson" if there was only that at the end of the game, or "".
    """

    name: str
    facts: SavedFacts
    review: str


def user_games(database: Database, folder: Path, reviews: Mapping[str, str]) -> list[UserGame]:
    """Returns the games that were played here or reviewed, the latest first; `reviews` are the `kept_reviews`."""
    saved = _saved_games(database, folder)
    rows = database.rows("SELECT facts, time FROM reviews ORDER BY time DESC")
    reviewed = [replace(facts, day=_minute(when)) for text, when in rows if (facts := from_text(text)) is not None]
    known = {facts.key for _, facts in saved}
    games = [(path.stem, facts) for path, facts in saved]
    games += [("", facts) for facts in reviewed if facts.key not in known]
    games.sort(key=lambda game: game[1].day, reverse=True)
    return [UserGame(name, facts, reviews.get(facts.key, "")) for name, facts in games]


def _minute(seconds: float) -> str:
    """Returns a time in ISO form, by this computer's clock: two games of one day may look alike otherwise."""
    return datetime.fromtimestamp(seconds).isoformat(timespec="minutes")


def facts_of(record: GameRecord, day: str) -> SavedFacts:
    """Returns what a record says; `day` is that of the last move."""
    notes = read_notes(record.root.properties)
    opponent = None if notes.is_edited else saved_opponent(record, notes)
    people = [colour for colour, name in ((BLACK, record.black), (WHITE, record.white)) if name == HUMAN]
    return SavedFacts(
        key=game_key(record),
        day=day,
        width=record.width,
        height=record.height,
        players=(record.black, record.white),
        opponent="" if opponent is None else str(opponent.rank or "max"),
        own=people[0] if opponent is not None and len(people) == 1 else 0,
        result=record.result.strip() if is_finished(record) else "",
        moves=len(record.moves),
        is_edited=notes.is_edited,
    )


def _read(path: Path, day: str) -> SavedFacts | None:
    """Returns what a file says; None for a collection, or a game without moves, or what this program has not saved."""
    with suppress(UserError):
        tree = read_sgf(path)
        facts = facts_of(tree, day)
        is_ours = facts.is_edited or (is_own(tree) and tree.moves)
        return facts if is_ours and tree.is_whole_file else None
    return None

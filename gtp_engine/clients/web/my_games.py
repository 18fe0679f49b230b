"""The user's games: what was played and reviewed, the curve of the user's rank, and what loses most points."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...base.chart import Axis, Chart
from ...base.errors import UserError
from ...base.files import is_same_file
from ...engine.ranks import Rank
from ...go.coords import colour_name
from ...table.database import Database
from ...table.game_index import SavedFacts, from_text, saved_games
from ...table.player_rating import POINTS, rating_history
from ...table.saved_games import SavedGame, games_of_user
from .opening import Opening, read_shown
from .playing import result_in_parts
from .session import Document, Message, Part, Reading, Session, text_of

_LISTED = 200  # games that a page lists
_CURVE_PIXELS = 120


class MyGames(Part):
    """The lists of games and of losses, which a page asks for, and games that are opened from there."""

    name, follows_position = "mine", False

    def __init__(self, session: Session, opening: Opening, database: Database) -> None:
        super().__init__(session)
        self._opening, self._database = opening, database

    def on_games(self, _: Message) -> Reading:
        """Returns the games, the curve of the rank, and what mistakes have cost by phase and by kind."""
        present = self.played.file.path

        def is_open(path: Path) -> bool:
            return present is not None and is_same_file(path, present)

        def found() -> Document:
            from ...study.losses import find_losses  # later than the first board
            from ...study.page.words import PHASES

            database = self._database
            saved = saved_games(database, self.played.folder)
            reviews = reviewed_games(database)
            kinds = {facts.key: is_lesson for is_lesson, facts in reviews}
            listed = [_listed(facts, kinds.get(facts.key), path.stem) for path, facts in saved if not is_open(path)]
            known = {facts.key for _, facts in saved}
            listed += [_listed(facts, is_lesson) for is_lesson, facts in reviews if facts.key not in known]
            losses = find_losses(database)
            phases = [(phase.name, name, losses.phases.get(phase.name, 0.0)) for phase, name in PHASES.items()]
            return {
                "type": "games",
                "games": sorted(listed, key=lambda each: str(each["day"]), reverse=True)[:_LISTED],
                "curve": _curve(database),
                "losses": {
                    "games": losses.games,
                    "phases": sorted(phases, key=lambda each: -each[2]),
                    "kinds": losses.kinds,
                },
                "problem": database.notice,
            }

        return Reading(found, lambda games: games)

    def on_resume(self, message: Message) -> Reading:
        """Continues a saved game, or shows one that is finished."""
        name, number = text_of(message, "game"), self.session.tree_number

        def read() -> SavedGame:
            path = next((path for path in games_of_user(self.played.folder) if path.stem == name), None)
            if path is None:
                raise UserError(f"no saved game {name[:80]!r}")
            saved = read_shown(path.read_bytes(), path)
            return saved if saved.is_own else saved.as_record()

        return Reading(read, lambda saved: self._load(saved, number))

    def on_reopen(self, message: Message) -> Reading:
        """Shows a game that was reviewed, as it was then."""
        key, number = text_of(message, "key"), self.session.tree_number

        def read() -> SavedGame:
            rows = self._database.rows("SELECT sgf FROM reviews WHERE key = ?", key)
            if not rows:
                raise UserError(f"no reviewed game {key[:80]!r}")
            return read_shown(rows[0][0].encode()).as_record()

        return Reading(read, lambda saved: self._load(saved, number))

    def _load(self, saved: SavedGame, number: int) -> None:
        self.session.check_game(number)  # another one may have begun meanwhile
        self._opening.load(saved)


def reviewed_games(database: Database) -> list[tuple[bool, SavedFacts]]:
    """Returns what the records of the reviewed games say, and whether there was only a lesson, the latest first."""
    rows = database.rows("SELECT is_lesson, facts FROM reviews ORDER BY time DESC")
    return [(bool(is_lesson), facts) for is_lesson, text in rows if (facts := from_text(text)) is not None]


def _listed(facts: SavedFacts, is_lesson: bool | None, name: str = "") -> Document:
    """Returns what the list says about a game: its name if it is a saved one, whether it has a review or a lesson."""
    listed: dict[str, Any] = asdict(facts)
    del listed["is_edited"]
    return listed | {
        "isEdited": facts.is_edited,
        "name": name,
        "own": colour_name(facts.own) if facts.own else None,
        "result": result_in_parts(facts.result),
        "isUnfinished": bool(name) and facts.is_unfinished,
        "review": None if is_lesson is None else "lesson" if is_lesson else "review",
    }


def _curve(database: Database) -> str | None:
    """Returns the rank after each game as a drawing; None for fewer than two games."""
    history = [rating.rating / POINTS for _, rating in rating_history(database)]
    if len(history) < 2:
        return None
    ranks = Axis.of(history, is_whole=True)
    names = {value: str(Rank(round(value))) for value in ranks.ticks}
    chart = Chart(Axis(1, len(history)), Axis(ranks.low, ranks.high, ticks=names))
    chart.line([*enumerate(history, 1)], 'class="lead"')
    return chart.stretched(_CURVE_PIXELS, "")

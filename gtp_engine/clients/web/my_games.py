"""The user's games: what was played and reviewed, the curve of the user's rank, and what costs most points."""

from dataclasses import asdict

from ...base.chart import Axis, Chart
from ...base.errors import UserError
from ...base.files import is_same_file
from ...engine.ranks import Rank
from ...go.coords import colour_name
from ...study.kept_problems import KeptProblems
from ...table.database import Database
from ...table.game_index import UserGame, games_of_user, user_games
from ...table.player_rating import POINTS, rating_history
from ...table.saved_games import SavedGame
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
        """Returns the games, the curve of the rank, what mistakes have cost, and whether there are problems to save."""
        present, folder, database = self.played.file.path, self.played.folder, self._database

        def found() -> Document:
            from ...study.losses import find_losses  # later than the first board
            from ...study.stored_reviews import kept_reviews

            games = user_games(database, folder, kept_reviews(database))
            losses = find_losses(database)
            return {
                "type": "games",
                "games": [_listed(game) for game in games if not is_continuing(game)][:_LISTED],
                "curve": _curve(database),
                "losses": asdict(losses),
                "hasProblems": bool(KeptProblems(database).coming()),
                "problem": database.notice,
            }

        def is_continuing(game: UserGame) -> bool:
            """Returns whether it is the unfinished game on the page."""
            path = folder / f"{game.name}.sgf"
            return present is not None and game.facts.is_unfinished and is_same_file(path, present)

        return Reading(found, lambda games: games)

    def on_resume(self, message: Message) -> Reading:
        """Continues a saved game, or shows one that is finished."""
        name = text_of(message, "game")

        def read() -> SavedGame:
            path = next((path for path in games_of_user(self.played.folder) if path.stem == name), None)
            if path is None:
                raise UserError(f"no saved game {name[:80]!r}")
            saved = read_shown(path.read_bytes(), path)
            return saved if saved.is_own else saved.as_record()

        return self.session.reading(read, self._opening.load)

    def on_reopen(self, message: Message) -> Reading:
        """Shows a game that was reviewed, as it was then."""
        key = text_of(message, "key")

        def read() -> SavedGame:
            rows = self._database.rows("SELECT sgf FROM reviews WHERE key = ?", key)
            if not rows:
                raise UserError(f"no reviewed game {key[:80]!r}")
            return read_shown(rows[0][0].encode()).as_record()

        return self.session.reading(read, self._opening.load)


def _listed(game: UserGame) -> Document:
    """Returns what the list says about a game."""
    facts, alike = game.facts, ("key", "day", "width", "height", "players", "opponent", "moves")
    return {name: getattr(facts, name) for name in alike} | {
        "name": game.name,
        "own": colour_name(facts.own) if facts.own else None,
        "result": result_in_parts(facts.result),
        "isUnfinished": bool(game.name) and facts.is_unfinished,
        "isEdited": facts.is_edited,
        "review": game.review,
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

"""The rank of the person who plays here: the question before the first game, and what it is after the others."""

from ...base.errors import UserError
from ...base.languages.texts import Phrase
from ...engine.ranks import as_rank
from ...table.played_game import Mode
from ...table.player_rating import ANSWERS, NEVER_PLAYED, first_rating
from ...table.rated_games import RatedGames
from .opening import Opening
from .session import Document, Message, Part, Session, text_of
from .studying import Searches

# Messages that have the engine help, or another network play.
_HELP = ("analyse", "hint", "network", "review", "score", "solve", "teach", "why")


class Rating(Part):
    """Games in which the engine's rank follows the person's results. One that the engine helps in does not count."""

    name = "rating"

    def __init__(self, session: Session, searches: Searches, opening: Opening, rated: RatedGames) -> None:
        super().__init__(session)
        self._searches, self._opening, self._rated = searches, opening, rated
        self._has_counted = False
        self._tell()

    def _tell(self) -> None:
        """Shows what is wrong with the file of the rating."""
        if self._rated.file.notice:
            notices = filter(None, (self.session.notice, self._rated.file.notice))
            self.session.notice = "; ".join(dict.fromkeys(notices))

    @property
    def _asks(self) -> bool:
        """Whether the person is to be asked for the rank: before the person's first move of the first game."""
        played = self.played
        has_moved = any(move.colour in played.humans for move in played.game.moves)
        is_new = played.mode is Mode.GAME and played.saved is None and not has_moved
        return is_new and not self._rated.file.is_asked

    def on_strength(self, message: Message) -> None:
        """Takes a person's rank, one of `ANSWERS` or "max", and begins a game against an opponent who suits it."""
        word, rated, played = text_of(message, "rank"), self._rated, self.played
        if not self._asks:
            raise UserError(Phrase("error.otherGame"))  # another page has answered
        rank = ANSWERS[word] if word in ANSWERS else as_rank(word)
        self.session.check_kept()
        rated.file.keep(None if rank is None and word not in ANSWERS else first_rating(rank))
        if rated.file.rating is not None:
            # The engine may have moved already.
            game, humans = played.position(played.tree.root).copy(), played.humans
            self._opening.replace(game, lambda: rated.begin(game, humans, played.time))
        self._tell()
        self.session.publish(self)
        if word == NEVER_PLAYED:
            self.session.tell("learn")

    def after_help(self) -> None:
        if self.played.result is None:
            self._rated.stop_counting()
            self.session.touch(self)

    after_undo = after_help

    def after_end(self) -> None:
        if self._rated.count():
            self._has_counted = True
            self._tell()

    def after_beginning(self, *, is_aside: bool) -> None:
        self._has_counted = False
        if self._rated.counts:
            self._searches.is_teaching = False  # or the game would not count, and nobody would have been asked

    @property
    def _ends(self) -> list[str]:
        """The types of messages after which the present game will not count; none if it does not count anyway."""
        if not self._rated.counts or self.played.result is not None:
            return []
        return [*_HELP, "undo"] if self.played.annotation_to_undo is None else [*_HELP]

    def document(self) -> Document:
        rated, rating = self._rated, self._rated.file.rating
        known = rating and {"rank": str(rating.rank), "within": rating.within, "games": rating.games}
        return {
            "asks": self._asks,
            "isKnown": rating is not None,
            "follows": rated.is_present,
            "counts": rated.counts,
            "ends": self._ends,
            # The text that says why the game does not count; "" if it does, and for people whose rank is not known.
            "uncounted": rated.uncounted if rating and self.played.mode is Mode.GAME else "",
            "result": known if self._has_counted else None,
        }

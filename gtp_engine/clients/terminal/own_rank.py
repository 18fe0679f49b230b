"""The rank of the person at the terminal: the question before the first game, and the messages of later ones."""

from ...base.errors import UserError
from ...base.languages.texts import LANGUAGES, texts
from ...engine.ranks import STRONGEST, WEAKEST, parse_rank
from ...go.game import Game
from ...table.played_game import PlayedGame
from ...table.player_rating import ANSWERS, NEVER_PLAYED, KeptRating, first_rating
from ...table.rated_games import RatedGames
from .screen import Screen

_QUESTION = (
    f"How strong are you? Type a rank, {WEAKEST} (beginner) to {STRONGEST}; rules if you know the rules and no more; "
    "max for full strength; or just Enter if you don't know."
)
_UNKNOWN = ("", "?", "unknown", "i don't know", "don't know", "i do not know", "dont know", "no idea", "auto")
_BEGINNER = ("beginner", "novice", "principiante", "初学者", "初學者", "مبتدئ", "初心者", "초보", "초보자")
# Other words for the answers without a rank: also what the page calls them, in all languages.
_WORDS = {
    "never": ("never", *(texts(language)("steps.never").lower() for language in LANGUAGES)),
    "rules": ("rules", *(texts(language)("steps.knowRules").lower() for language in LANGUAGES)),
    "unknown": _UNKNOWN,
}
_KYU_AND_DAN = str.maketrans("级級급段단", "kkkdd")


class OwnRank:
    """What the terminal asks and says about games in which the engine's rank follows the person's results.

    `rated` are these games; None if the rank does not follow the results.
    """

    def __init__(self, rated: RatedGames | None, played: PlayedGame, screen: Screen) -> None:
        self._rated, self._played, self._screen = rated, played, screen
        self.has_never_played = False  # by the answer to the question

    @property
    def follows(self) -> bool:
        """Whether the engine's rank follows the results."""
        return self._rated is not None and self._rated.file.rating is not None

    def begin_first(self, offer: str) -> bool:
        """Asks for the person's rank, but only once, and begins a game against an opponent of that rank.

        `offer` is what the question says to somebody who has never played. Returns False if the input ended at it.
        """
        if self._rated is None:
            return True
        file = self._rated.file
        self._show_notice(file)
        if not file.is_asked and self._screen.is_interactive and not self._ask(file, offer):
            return False
        if not self.follows:
            self._rated = None
        else:
            self._rated.begin(self._played.game, self._played.humans)
        return True

    def _ask(self, file: KeptRating, offer: str) -> bool:
        self._screen.say(_QUESTION)
        self._screen.say(offer)
        while (answer := self._screen.ask("your rank> ")) is not None:
            try:
                word = answer.lower().strip(" .!")
                name = next((name for name, words in _WORDS.items() if word in words), None)
                named = str(WEAKEST) if word in _BEGINNER else answer.translate(_KYU_AND_DAN)
                rank = ANSWERS[name] if name else parse_rank(named)
            except UserError as error:
                self._screen.say(f"{error}, or just Enter", "yellow")
                continue
            self.has_never_played = name == NEVER_PLAYED
            file.keep(None if rank is None and not name else first_rating(rank))
            self._show_notice(file)
            return True
        return False

    def begin(self, game: Game, humans: frozenset[int]) -> None:
        """Begins a game against an opponent who suits the rating, as in `RatedGames.begin`."""
        assert self._rated is not None
        self._rated.begin(game, humans)

    def greeting(self) -> str:
        """Returns what to say of the opponent of a new game; "" if its rank does not follow the results."""
        if self._rated is None or not self.follows:
            return ""
        rank = self._played.engine.settings.rank
        if self._rated.counts:
            follows = "and follows your results"
        elif not self._rated.is_measured:
            follows = "(how strongly it plays here has not been measured: this game does not count for your rank)"
        else:
            follows = "(this game does not count for your rank)"
        return f"the engine plays at {rank} {follows}; rank R changes that"

    def count(self) -> None:
        """Counts the result of the present game, if it counts, and says what the person's rank is then."""
        if self._rated is None or not self._rated.count() or (rating := self._rated.file.rating) is None:
            return
        self._screen.say(rating.in_words())
        self._show_notice(self._rated.file)

    @property
    def _counting(self) -> RatedGames | None:
        """The rated games, if the present one will count."""
        counts = self._rated is not None and self._rated.counts and not self._played.result
        return self._rated if counts else None

    def end_counting(self, why: str) -> None:
        """Asks whether the present game may stop counting, if it counts, and says so once it has.

        Raises UserError if the person wants it to count.
        """
        question = "after this, the game will not count for your rank: go on?"
        if self._counting is not None and not self._screen.confirm(question):
            raise UserError("nothing has changed: the game still counts")
        self.stop_counting(why)

    def stop_counting(self, why: str) -> None:
        """Says that the present game does not count, if it did and has not ended."""
        if self._counting is not None:
            self._counting.stop_counting()
            self._screen.say(f"{why}: this game does not count for your rank", "dim")

    def stop_following(self) -> None:
        """Has the engine's rank follow the results no longer."""
        self._rated = None

    def _show_notice(self, file: KeptRating) -> None:
        if file.notice:
            self._screen.say(file.notice, "yellow")

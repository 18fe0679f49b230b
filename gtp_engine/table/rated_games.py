"""Games against an opponent whose rank follows the results of the person who plays here."""

from dataclasses import replace

from ..engine.clock import NO_LIMIT, TimeSettings
from ..engine.ranks import Rank, is_measured, next_rank
from ..go.coords import BLACK, colour_letter
from ..go.game import Game, count_handicap, initial_game, usual_komi
from ..go.sgf import GameRecord
from ..nets.library import RANK_PLAY
from .played_game import PlayedGame
from .player_rating import KeptRating, within_reach

_LEAST_SHARE = 1 / 8  # of the board's points, in moves: a game that was given up before says nothing


class RatedGames:
    """The games that `begin` begins; each counts once, with its first result."""

    def __init__(self, played: PlayedGame, file: KeptRating) -> None:
        self.file = file  # the rating
        # Whether the ranks of the opponent of the game that was begun last have been measured.
        self.is_measured = True
        # The name of the text that says why the game that was begun last does not count; "" if it has, None if it will.
        self._why: str | None = ""
        self._played = played
        self._opponent: Rank | None = None
        self._stones = 0  # the handicap stones that were given for the game that was begun last
        self._tree: GameRecord | None = None  # of the game that was begun last

    @property
    def is_present(self) -> bool:
        """Whether the present game was begun here, and no other one has been loaded or begun since."""
        return self._played.tree is self._tree

    @property
    def counts(self) -> bool:
        """Whether the present game will count."""
        return self._why is None and self.is_present

    @property
    def uncounted(self) -> str:
        """The name of the text that says why the present game does not count; "" if it does, or has counted."""
        return (self._why or "") if self.is_present else "uncounted.begun"

    def stop_counting(self) -> None:
        """Has the present game not count: the engine has helped, or another network plays the rest."""
        if self.counts:
            self._why = "uncounted.help"

    def begin(self, game: Game, humans: frozenset[int], time: TimeSettings = NO_LIMIT) -> None:
        """Begins a game against an opponent who suits the rating, with handicap stones if there is none so weak.

        A game with a handicap or a komi of the person's own does not count, nor one against an opponent whose ranks
        were not measured on this board. Handicap stones that were given here for the last game are given anew. Raises
        UserError if the engine refuses the board; the present game stays then.
        """
        self.file.follow()
        rating, engine = self.file.rating, self._played.engine
        assert rating is not None
        board = game.width, game.height
        if self._stones and not game.moves and count_handicap(game.setup_stones, ()) == self._stones:
            game = initial_game(*board, handicap=0, komi=None, rules=game.rules)
        network = engine.settings.network_on(*board, RANK_PLAY)
        opponent = next_rank(within_reach(rating.opponent), 0, network, *board)
        assert opponent is not None
        is_even = not game.setup_stones and not game.moves and game.komi == usual_komi(*board, 0)
        stones = rating.stones(opponent, *board) if is_even and humans == {BLACK} else 0
        if stones:
            game = initial_game(*board, handicap=stones, komi=None, rules=game.rules)
        engine.settings = replace(engine.settings, rank=opponent)
        self._played.begin(game, humans, time)
        self.is_measured = is_measured(network, *board)
        self._why = "uncounted.begun" if not is_even else None if self.is_measured else "uncounted.unmeasured"
        self._opponent, self._stones, self._tree = opponent, stones, self._played.tree

    def count(self) -> bool:
        """Counts the result of the present game, if it counts; returns whether it has."""
        if not self.counts:
            return False
        self.file.follow()
        played, rating, opponent = self._played, self.file.rating, self._opponent
        self._why = "uncounted.short"
        is_enough = len(played.game.moves) >= _LEAST_SHARE * played.game.area
        if is_enough and played.result and rating is not None and opponent is not None:
            (human,) = played.humans
            score = float(played.result.startswith(colour_letter(human))) if played.result != "0" else 0.5
            self.file.keep(rating.after(opponent, score, self._stones))
            self._why = ""
        return not self._why

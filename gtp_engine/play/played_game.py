"""A game that people play at this computer: whose turn it is, its result, and its file, written after every move.

The terminal and the web page show the same game; here is what does not depend on how it is shown.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..evaluate.choices import LARGEST_BOARD, network_on
from ..game.coords import BLACK, PASS, WHITE, colour_letter, opponent
from ..network.library import default_networks
from ..sgf import GameRecord
from .engine import Decision, Engine
from .loading import HUMAN, SavedGame
from .saving import GameFile

if TYPE_CHECKING:
    from ..game.game import Game

HANDICAP_KOMI = 0.5  # with handicap stones, unless another one is asked for: it only excludes draws


HANDICAP_KOMI = 0.5  # with handicap stones, unless another one is asked for: it only excludes draws


class PlayedGame:
    """The game on the engine's board. `load`, `begin` and `restart` put another one in its place.

    Attributes:
        engine: The engine, with the position.
        humans: The colours that people play; the engine plays the others.
        folder: The folder of new files.
        file: The game's file. After a method that changes the game its `error` tells whether it could be saved.
        result: The result as SGF writes it ("W+3.5", "B+R", "0"); None while the game goes on.
        saved: The saved game that it continues; None for a new one.
        dead: The points of the stones that the count of a finished game removes.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        humans: frozenset[int],
        folder: Path,
        comments: bool = False,
        saved: SavedGame | None = None,
    ) -> None:
        """Begins with the position of the engine.

        Args:
            engine: The engine.
            humans: The colours that people play.
            folder: The folder for the records of new games.
            comments: Whether to save the engine's win rate, score and main line with its moves.
            saved: The saved game that the engine's position comes from, if any.
        """
        self.engine = engine
        self.humans = humans
        self.folder = folder
        self._save_comments = comments
        self._begin(saved)

    def _begin(self, saved: SavedGame | None) -> None:
        self.saved = saved
        self.result: str | None = None
        self.dead: set[int] = set()
        self._date = saved.date if saved and saved.is_own else None
        self._comments = dict(saved.comments) if saved else {}  # by move number
        self._loaded_moves = list(saved.game.moves) if saved else []
        self.file = GameFile(self.folder, self._label(), saved.path if saved and saved.is_own else None)

    @property
    def game(self) -> "Game":
        """The position with its history."""
        return self.engine.game

    def comment(self, place: int) -> str:
        """Returns the comment of the position after a number of moves, "" for none."""
        return self._comments.get(place, "")

    @property
    def is_misjudged(self) -> bool:
        """Whether the engine's win rates and scores are wrong here: the shipped network for full boards takes a game
        with handicap stones for an even one (four stones on 19x19: 50 %, measured).
        """
        file = network_on(self.engine.settings.network, self.game.width, self.game.height)
        large = {str(path) for path, (_, largest) in default_networks().items() if largest == LARGEST_BOARD}
        return bool(self.game.handicap) and file in large

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
        if not game.is_legal(point) and point != PASS:
            game.copy().play(game.to_move, point)  # raises the reason, unless it is superko
            raise UserError(f"illegal move: {game.vertex(point)} repeats an earlier position")
        self.engine.play(game.to_move, point)
        self.file.save(self.record())

    def commit(self, decision: Decision) -> None:
        """Plays the engine's move and saves the game; resigns if the engine has decided that."""
        if decision.resign:
            self.resign()
            return
        self.engine.commit(decision)
        if self._save_comments and decision.report is not None:
            self._comments[len(self.game.moves)] = decision.report.as_comment()
        self.file.save(self.record())

    @property
    def _has_resigned(self) -> bool:
        """Whether a person has resigned on their turn."""
        return bool(self.result and self.result.endswith("+R") and self.is_humans_turn)

    @property
    def can_undo(self) -> bool:
        """Whether there is a person's move, or resignation, to take back."""
        return self._has_resigned or any(move.colour in self.humans for move in self.game.moves)

    def undo(self) -> bool:
        """Takes back a person's last move and everything after it, or only the resignation, and saves the game.

        Returns:
            Whether it was only the resignation.

        Raises:
            UserError: No person has moved.
        """
        if not self.can_undo:
            raise UserError("you have no move to take back")
        only_resignation = self._has_resigned
        if not only_resignation:
            self.engine.undo()
            while not self.is_humans_turn:
                self.engine.undo()
        self.result, self.dead = None, set()
        moves = len(self.game.moves)
        self._comments = {number: text for number, text in self._comments.items() if number <= moves}
        self.file.save(self.record())
        return only_resignation

    def resign(self, colour: int | None = None) -> None:
        """Ends the game by the resignation of a player, by default of the one to move, and saves it.

        Raises:
            UserError: The game is over.
        """
        if self.result:
            raise UserError("the game is over")
        self.result = f"{colour_letter(opponent(colour or self.game.to_move))}+R"
        self.save()

    def count(self, dead: Iterable[int]) -> None:
        """Counts a game that two passes have ended, without these dead stones, and saves it."""
        from ..game.scoring import Score, final_score

        self.dead = set(dead)
        self.result = str(Score(final_score(self.game, self.dead)))
        self.save()

    # Games and files.

    def record(self) -> GameRecord:
        """Returns the record of the game so far."""
        names = {colour: HUMAN if colour in self.humans else self.engine.name for colour in (BLACK, WHITE)}
        return GameRecord.from_game(
            self.game,
            black=names[BLACK],
            white=names[WHITE],
            result=self.result or "",
            date=self._date,
            comments=self._comments,
        )

    @property
    def has_content(self) -> bool:
        """Whether there is anything to save: moves, unless they are those of a file that stays as it is."""
        moves = self.game.moves
        return bool(moves) and (self.file.path is not None or moves != self._loaded_moves or self.result is not None)

    def save(self) -> bool:
        """Saves the game if there is anything to save; returns False and sets the file's `error` if that fails."""
        return not self.has_content or self.file.save(self.record())

    def load(self, saved: SavedGame) -> None:
        """Continues a saved game instead of this one; its opponent plays at its rank again."""
        if saved.opponent is not None:
            self.engine.settings = replace(self.engine.settings, rank=saved.opponent.rank)
        self.engine.load(saved.game)
        self.humans = saved.humans
        self._begin(saved)

    def begin(self, game: "Game", humans: frozenset[int]) -> None:
        """Begins a new game instead of this one, from a position, with people playing these colours."""
        self.engine.load(game)
        self.humans = humans
        self._begin(None)

    def restart(self) -> None:
        """Begins a new game with the same board, handicap, komi, rules and players."""
        self.begin(self.record().to_game(0), self.humans)

    def _label(self) -> str:
        """Returns the board and the opponent for the name of a new file."""
        rank = self.engine.settings.rank
        players = "two-players" if len(self.humans) == 2 else "engine" if rank is None else f"engine-{rank}"
        return f"{self.engine.width}x{self.engine.height}-{players}"

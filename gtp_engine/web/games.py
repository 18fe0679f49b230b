"""Which game is played or looked at: new games, saved games, records, and the network that plays."""

import codecs
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..base.fields import parse_word
from ..game.coords import BLACK, WHITE
from ..play.loading import open_tree, unfinished_games
from ..sgf import TreeNode, read_tree
from .messages import bytes_of, new_game_of, text_of
from .networks import network_choices
from .part import Message, Part

if TYPE_CHECKING:
    from ..game.game import Game
    from .session import Session

_BOTH = frozenset((BLACK, WHITE))
_LISTED = 20  # unfinished games that a page offers


class Games(Part):
    """Games that take the place of each other.

    Attributes:
        networks: What `EngineSettings.network` is for each network that a page may choose.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.networks = network_choices()
        self._downloaded = ""  # the version of the tree
        self.methods = {
            "games": self._list,
            "new": self._new,
            "resume": self._resume,
            "open": self._open,
            "branch": self._branch,
            "network": self._choose_network,
        }

    def _list(self, _: Message) -> dict[str, Any]:
        return {"type": "games", "games": [path.stem for path in islice(self._unfinished(), _LISTED)]}

    def _unfinished(self, name: str | None = None) -> Iterator[Path]:
        played = self.session.played
        return unfinished_games(played.folder, played.file.path, with_edited=True, name=name)

    def _new(self, message: Message) -> None:
        new = new_game_of(message)

        def begin() -> None:
            engine = self.session.played.engine
            engine.settings = replace(engine.settings, rank=new.rank, seconds=new.seconds, visits=new.visits)
            self.session.played.begin(new.game, new.humans, new.time)

        self._replace(new.game, begin)

    def _resume(self, message: Message) -> None:
        name = text_of(message, "game")
        path = next(self._unfinished(name), None)
        if path is None:
            raise UserError(f"no unfinished game {name[:80]!r}")
        saved = open_tree(read_tree(path), path)
        if saved.is_edited:
            saved = replace(saved, humans=_BOTH)
        self._replace(saved.game, lambda: self.session.played.load(saved, as_record=saved.is_edited))

    def _open(self, message: Message) -> None:
        """Shows a record, a `file` or `sgf` that was pasted; what is played on is saved as a new game."""
        if "file" in message:
            data = bytes_of(message, "file")
        else:  # text has left its charset behind, whatever its CA says
            data = codecs.BOM_UTF8 + text_of(message, "sgf").encode("utf-8", "replace")
        tree = read_tree(data)
        saved = replace(open_tree(tree), humans=_BOTH)
        self._replace(saved.game, lambda: self.session.played.load(saved, as_record=True))

    def _branch(self, message: Message) -> None:
        """Begins a new game against the engine from the position that is shown, with the same time limits."""
        self.check_shown(message)
        session, time = self.session, self.session.played.time
        game, node, values = session.position().copy(), session.node, session.values
        if game.is_over:
            raise UserError("both players have passed here: choose an earlier position")
        self._replace(game, lambda: session.played.begin(game, frozenset((game.to_move,)), time), forgets=False)
        values.move_to(zip(_positions(node), _positions(session.played.node), strict=False))
        session.publish()

    def _replace(self, game: "Game", begin: Callable[[], object], *, forgets: bool = True) -> None:
        """Has another game take the place of this one, which is on disk first.

        Args:
            game: The position with which the other game begins.
            begin: Begins the other game.
            forgets: Whether the values of the positions are forgotten.

        Raises:
            UserError: The engine refuses the board, or this game would be lost; nothing has changed then.
        """
        session = self.session
        session.played.engine.settings.check_board(game.width, game.height)
        if not session.played.save() and session.tree_version != self._downloaded:
            raise UserError(f"{session.played.file.error}; this game would be lost: download its SGF first")
        session.cancel()
        notice = session.played.file.notice
        begin()
        session.notice = "; ".join(filter(None, (notice, session.notice_of_opening))) or None
        if forgets:
            session.values.forget()
        session.began()

    def _choose_network(self, message: Message) -> None:
        """Has the engine use another network, for its moves and for analyses."""
        session = self.session
        chosen = parse_word("network", message.get("network"), self.networks)
        engine = session.played.engine
        settings = replace(engine.settings, network=self.networks[chosen])
        settings.check_board(engine.width, engine.height)
        session.cancel()
        engine.settings = settings
        engine.load(engine.game)
        session.values.forget()
        session.opinion = None
        session.watch_engine()
        session.searches.forget_judgement()
        session.look_at(session.node)

    def download(self) -> str:
        """Returns the game as SGF, for the person who asks for it to keep."""
        text = self.session.played.record(is_copy=True).to_sgf()
        self._downloaded = self.session.tree_version
        return text


def _positions(node: TreeNode) -> list[TreeNode]:
    """Returns a node and those at which the moves before it were played, the latest first.

    Two lines with the same moves have the same ones, whatever nodes without a move stand between them.
    """
    return [node, *(before for before, after in reversed(list(pairwise(node.path))) if after.move is not None)]

"""Which game is played or looked at: new games, saved games, records, and the network that plays."""

import base64
import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from ...base.errors import UserError
from ...base.fields import Range, invalid, parse_number, parse_word
from ...base.languages.texts import Phrase
from ...engine.clock import NO_LIMIT, named_settings
from ...engine.ranks import as_rank
from ...engine.settings import DEFAULT_SECONDS
from ...go.coords import BLACK, MAX_SIZE, MIN_SIZE, WHITE, colour_name
from ...go.game import Game
from ...go.rules import RULESETS, rules_name
from ...go.sgf import TreeNode, read_sgf
from ...nets.library import list_networks, network_name
from ...search.evaluate.choices import AUTO, ROLLOUTS
from ...table.game_clock import check_limits
from ...table.new_game import COLOURS, initial_game, parse_humans, usual_komi
from ...table.played_game import Mode
from ...table.saved_games import HUMAN, SavedGame, open_tree, read_notes, unfinished_games
from .playing import result_in_parts
from .session import Document, Message, Part, Session, phrase_parts, text_of, visits_of, whole_number
from .studying import Values

_LARGEST_RECORD = 2 << 20  # bytes; the largest in use have a tenth of it
_LISTED = 20  # unfinished games that a page offers
_SECONDS = Range(0, 3600, above=True, noun="number of seconds")  # the page offers less
_KOMI = Range(-150, 150)
_SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer")


class Opening(Part):
    """Games that take the place of each other.

    Attributes:
        open_problems: Shows the problems of files, by their names and contents; returns whether there are any. The part
            for problems sets it.
    """

    def __init__(self, session: Session, values: Values) -> None:
        super().__init__(session, values)
        # Those that a page may choose by their names; it never names a file.
        named = {network_name(path): str(path) for path in list_networks()}
        self.networks = {AUTO: AUTO, ROLLOUTS: ROLLOUTS} | named
        session.about = self._described()
        self.open_problems: Callable[[Sequence[tuple[str, bytes]]], bool] = lambda files: False

    def on_games(self, _: Message) -> Document:
        """Returns the unfinished games: their names, boards, players, moves, and days of the last move."""
        return {"type": "games", "games": [_listed(path) for path in islice(self._unfinished(), _LISTED)]}

    def _unfinished(self, name: str | None = None) -> Iterator[Path]:
        return unfinished_games(self.played.folder, self.played.file.path, with_edited=True, name=name)

    def on_new(self, message: Message) -> None:
        """Begins a new game."""
        width, height = (whole_number(message, name, MIN_SIZE, MAX_SIZE) for name in ("width", "height"))
        handicap = whole_number(message, "handicap", 0, 9)
        komi = message.get("komi")
        if komi is not None:
            komi = float(parse_number("komi", komi, _KOMI, from_text=False))
        rules = parse_word("rules", message.get("rules"), RULESETS)
        game = initial_game(width, height, handicap=handicap, komi=komi, rules=rules)
        self._replace(game, self._beginning(message, game))

    def _beginning(self, message: Message, game: Game) -> Callable[[], None]:
        """Returns what begins a game from a position, with the players and the limits of a message."""
        seconds = message.get("seconds")
        humans = parse_humans(parse_word("colour", message.get("colour"), COLOURS))
        rank = as_rank(text_of(message, "rank"))
        if seconds is not None:
            seconds = float(parse_number("time", seconds, _SECONDS, from_text=False))
        visits, time = visits_of(message), NO_LIMIT
        if message.get("time") is not None:  # named as in `kata-time_settings`
            time = check_limits(named_settings(text_of(message, "time").split(), _SYSTEMS))

        def begin() -> None:
            engine = self.played.engine
            engine.settings = replace(engine.settings, rank=rank, seconds=seconds, visits=visits)
            self.played.begin(game, humans, time)

        return begin

    def on_resume(self, message: Message) -> None:
        """Continues a saved game."""
        name = text_of(message, "game")
        path = next(self._unfinished(name), None)
        if path is None:
            raise UserError(f"no unfinished game {name[:80]!r}")
        saved = open_tree(read_sgf(path), path)
        self.load(saved.as_record() if saved.is_edited else saved)

    def on_open(self, message: Message) -> None:
        """Shows problems or a record: `files`, each its name and its content in base64, or `sgf` that was pasted.

        What is played on in a record is saved as a new game.
        """
        if "files" in message:
            files = [*_decoded(message["files"])]
        else:  # text has left its charset behind, whatever its CA says
            files = [("", codecs.BOM_UTF8 + text_of(message, "sgf").encode("utf-8", "replace"))]
        if self.open_problems(files):
            return
        if len(files) > 1:
            raise UserError("there are no problems in these files: open one record at a time")
        if len(files[0][1]) > _LARGEST_RECORD:
            raise UserError(f"{files[0][0]} is too large for a game record")
        self.load(open_tree(read_sgf(files[0][1])).as_record())

    def on_branch(self, message: Message) -> None:
        """Begins a new game from the position that is shown."""
        self.check_shown(message)
        game, node = self.session.position().copy(), self.session.node
        if game.is_over:
            raise UserError(Phrase("error.bothPassed"))
        self._replace(game, self._beginning(message, game), forgets=False)
        self.values.move_to(zip(_positions(node), _positions(self.played.node), strict=False))
        self.session.publish()

    def load(self, saved: SavedGame) -> None:
        """Has a saved game take the place of the present one."""
        self._replace(saved.game, lambda: self.played.load(saved))

    def _replace(self, game: Game, begin: Callable[[], object], *, forgets: bool = True) -> None:
        """Has another game take this one's place, unless the engine refuses its board or this one would be lost."""
        session, played = self.session, self.played
        played.engine.settings.check_board(game.width, game.height)
        session.check_kept()
        session.cancel()
        notice = played.file.notice
        begin()
        session.notice = "; ".join(filter(None, (notice, session.notice_of_opening))) or None
        if forgets:
            self.values.forget()
        session.began()

    def on_network(self, message: Message) -> None:
        """Has the engine use another network, for its moves and for analyses."""
        self._use(self.networks[parse_word("network", message.get("network"), self.networks)])

    def use_loaded(self, path: Path) -> None:
        """Has the engine use a network that has just been downloaded, and pages choose it."""
        self.networks[network_name(path)] = str(path)
        self._use(str(path))

    def _use(self, network: str) -> None:
        session, engine = self.session, self.played.engine
        settings = replace(engine.settings, network=network)
        settings.check_board(engine.width, engine.height)
        session.cancel()
        engine.settings = settings
        engine.load(engine.game)
        session.about = self._described()
        self.values.forget()
        session.watch_engine()
        session.tried.clear()
        session.look_at(session.node)

    def forget_game(self) -> None:
        self.session.about = self._described()

    def _described(self) -> Document:
        """Returns the game that is played or looked at, and how the engine plays."""
        played = self.played
        game, settings, tree = played.game, played.engine.settings, played.tree
        is_record, players = played.mode is Mode.RECORD, {BLACK: tree.black, WHITE: tree.white}
        timed = settings.visits is None and settings.seconds is None
        # A network that cannot be chosen has the name of its file.
        network = settings.network
        return {
            "isRecord": is_record,
            # Of the people in a record that is continued; without those that have none.
            "names": {colour_name(colour): name for colour, name in players.items() if name and name != HUMAN},
            "recordedResult": result_in_parts(tree.result.strip() if is_record else None),
            "komi": game.komi,
            "rules": rules_name(game.rules) or "other",
            "handicap": played.handicap,
            "isUsualKomi": game.komi == usual_komi(game.width, game.height, played.handicap),
            "rank": "max" if settings.rank is None else str(settings.rank),
            "rankNotes": [phrase_parts(note) for note in played.engine.rank_notes] if played.mode is Mode.GAME else [],
            "seconds": DEFAULT_SECONDS if timed else settings.seconds,
            "visits": settings.visits,
            "network": network if network in (AUTO, ROLLOUTS) else network_name(Path(network)),
            "networks": list(self.networks),
        }


def _listed(path: Path) -> Document:
    """Returns what a list of games says about a file."""
    tree = read_sgf(path)
    is_edited = read_notes(tree.root.properties).is_edited
    ranks = [rank for name, rank in ((tree.black, tree.black_rank), (tree.white, tree.white_rank)) if name != HUMAN]
    return {
        "name": path.stem,
        "width": tree.width,
        "height": tree.height,
        "players": [tree.black, tree.white] if is_edited else None,
        "rank": (ranks[0] or "max") if ranks and not is_edited else None,
        "moves": len(tree.moves),
        "day": date.fromtimestamp(path.stat().st_mtime).isoformat(),
    }


def _decoded(files: Any) -> Iterator[tuple[str, bytes]]:
    """Yields the names and the contents of files that a page has sent."""
    for file in files if isinstance(files, list) and files else [files]:
        try:
            name, text = file
            yield str(name), base64.b64decode(text, validate=True)
        except (ValueError, TypeError):
            raise invalid("file", file, "its name and its content in base64") from None


def _positions(node: TreeNode) -> list[TreeNode]:
    """Returns a node and those at which the moves before it were played, the latest first.

    Two lines with the same moves have the same ones, whatever nodes without a move stand between them.
    """
    return [node, *(before for before, after in reversed(list(pairwise(node.path))) if after.move is not None)]

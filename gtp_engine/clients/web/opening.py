"""Which game is played or looked at: new games, saved games, records, and the network that plays."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from ...base.errors import UserError
from ...base.fields import Range, Words
from ...base.languages.texts import Phrase
from ...engine.clock import NO_LIMIT, named_settings
from ...engine.ranks import as_rank
from ...engine.settings import DEFAULT_SECONDS
from ...go.coords import BLACK, MAX_SIZE, MIN_SIZE, WHITE, colour_name
from ...go.game import Game, initial_game, usual_komi
from ...go.rules import RULESETS, rules_name
from ...go.sgf import GameRecord, TreeNode, read_sgf
from ...nets.library import list_networks, network_name
from ...search.evaluate.choices import AUTO, ROLLOUTS
from ...table.game_clock import check_limits
from ...table.new_game import COLOURS, parse_humans
from ...table.played_game import Mode
from ...table.rated_games import RatedGames
from ...table.saved_games import HUMAN, SavedGame, called, open_tree
from .playing import result_in_parts
from .position import empty_board
from .session import Document, Message, Part, Session, phrase_parts, text_of, visits_of, whole_number

_MOST_POSITIONS = 100_000  # of a record; pages draw its tree, and follow its lines from start to end
_SECONDS = Range(0, 3600, above=True, noun="number of seconds")  # the page offers less
_KOMI = Range(-150, 150)
_SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer")


class Opening(Part):
    """Games that take the place of each other."""

    name, follows_position = "game", False

    def __init__(self, session: Session, rated: RatedGames | None) -> None:
        super().__init__(session)
        self._rated = rated  # the games in which the engine's rank follows the person's results
        # Those that a page may choose by their names; it never names a file.
        named = {network_name(path): str(path) for path in list_networks()}
        self.networks = {AUTO: AUTO, ROLLOUTS: ROLLOUTS} | named

    def on_new(self, message: Message) -> None:
        """Begins a new game."""
        width, height = (whole_number(message, name, MIN_SIZE, MAX_SIZE) for name in ("width", "height"))
        handicap = whole_number(message, "handicap", 0, 9)
        komi = message.get("komi")
        if komi is not None:
            komi = float(_KOMI.parse("komi", komi, from_text=False))
        rules = Words(RULESETS).parse("rules", message.get("rules"))
        game = initial_game(width, height, handicap=handicap, komi=komi, rules=rules)
        self.replace(game, self._beginning(message, game))

    def _beginning(self, message: Message, game: Game) -> Callable[[], None]:
        """Returns what begins a game from a position, with the players and the limits of a message."""
        seconds = message.get("seconds")
        humans = parse_humans(Words(COLOURS).parse("colour", message.get("colour")))
        word, rated = text_of(message, "rank"), self._rated
        is_rated = word == AUTO and rated is not None and rated.file.rating is not None and len(humans) == 1
        rank = None if word == AUTO else as_rank(word)
        if seconds is not None:
            seconds = float(_SECONDS.parse("time", seconds, from_text=False))
        visits, time = visits_of(message), NO_LIMIT
        if message.get("time") is not None:  # named as in `kata-time_settings`
            time = check_limits(named_settings(text_of(message, "time").split(), _SYSTEMS))

        def begin() -> None:
            engine = self.played.engine
            engine.settings = replace(engine.settings, rank=rank, seconds=seconds, visits=visits)
            if is_rated and rated is not None:
                rated.begin(game, humans, time)
            else:
                self.played.begin(game, humans, time)

        return begin

    def on_branch(self, message: Message) -> None:
        """Begins a new game from the position that is shown."""
        self.check_shown(message)
        game, node = self.session.position().copy(), self.session.node
        if game.is_over:
            raise UserError(Phrase("error.bothPassed"))
        self._branch(node, game, self._beginning(message, game))

    def on_retry(self, message: Message) -> None:
        """Begins a game against the engine before a move, for its player to try another one; the limits stay."""
        node, played = self.node_of(message), self.played
        if node.move is None or node.parent is None:
            raise UserError("there is no move to try again")
        game, humans = self.session.before(node), frozenset((node.move.colour,))
        self._branch(node.parent, game, lambda: played.begin(game, humans, played.time))

    def _branch(self, node: TreeNode, game: Game, begin: Callable[[], object]) -> None:
        """Has a game from the position of a node take the place of this one."""
        self.replace(game, begin, forgets=False, is_aside=True)
        self.values.move_to(zip(_positions(node), _positions(self.played.node), strict=False))
        self.session.show()

    def load(self, saved: SavedGame, *, is_aside: bool = False) -> None:
        """Has a saved game take the place of the present one, to which people may go back if `is_aside`."""
        self.replace(saved.game, lambda: self.played.load(saved), is_aside=is_aside)
        self.show_start()

    def show_start(self) -> None:
        """Goes to the start of a record that was opened to be read: not of a problem, nor of what is edited here."""
        saved = self.played.saved
        if saved is not None and saved.is_record and saved.is_kept and not saved.is_edited:
            self.session.look_at(self.played.tree.root)

    def replace(self, game: Game, begin: Callable[[], object], *, forgets: bool = True, is_aside: bool = False) -> None:
        """Has another game take this one's place, unless the engine refuses its board or this one would be lost."""
        session, played = self.session, self.played
        played.engine.settings.check_board(game.width, game.height)
        session.check_kept()
        session.cancel()
        notice = played.file.notice
        begin()
        session.notice = notice
        if forgets:
            self.values.forget()
        session.began(is_aside=is_aside)

    def on_network(self, message: Message) -> None:
        """Has the engine use another network, for its moves and for analyses."""
        network = self.networks[Words(self.networks).parse("network", message.get("network"))]
        session, engine = self.session, self.played.engine
        settings = replace(engine.settings, network=network)
        settings.check_board(engine.width, engine.height)
        session.cancel()
        if self._rated is not None:
            self._rated.stop_counting()  # another network plays the rest
        engine.settings = settings
        engine.load(engine.game)
        session.touch(self)
        self.values.forget()
        session.watch_engine()
        session.tried.clear()
        session.look_at(session.node)

    def document(self) -> Document:
        """Returns the game that is played or looked at, and how the engine plays."""
        played = self.played
        game, settings, tree = played.game, played.engine.settings, played.tree
        is_record = played.mode is Mode.RECORD
        known = {colour: phrase_parts(phrase) for colour, phrase in called(tree).items()} if is_record else {}
        names = {BLACK: tree.black, WHITE: tree.white} | known
        ranks = {BLACK: tree.black_rank, WHITE: tree.white_rank} if is_record else {}
        humans = sorted(played.humans)
        timed = settings.visits is None and settings.seconds is None
        # A network that cannot be chosen has the name of its file.
        network = settings.network
        return {
            "board": empty_board(game.width, game.height),
            "width": game.width,
            "height": game.height,
            "humans": [*map(colour_name, humans)],
            "isStudy": played.mode is not Mode.GAME,
            "isRecord": is_record,
            # Of the people in a record that is continued; without those that have none.
            "names": {colour_name(colour): names[colour] for colour in humans if names[colour] not in ("", HUMAN)},
            "ranks": {colour_name(colour): rank for colour, rank in ranks.items() if colour not in known},
            "title": (tree.root.text("GN") or tree.root.text("EV")).strip() if is_record else "",
            "remarks": [phrase_parts(remark) for remark in played.saved.remarks] if played.saved else [],
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


def read_shown(data: bytes, path: Path | None = None) -> SavedGame:
    """Reads the first game of a file, from this path if any; raises UserError if it is too large for pages to show."""
    return open_tree(read_tree(data), path)


def read_tree(data: bytes) -> GameRecord:
    """Reads the first game of an SGF; raises UserError if it has more nodes than pages can show, before it is read."""
    return read_sgf(data, most_nodes=_MOST_POSITIONS)


def _positions(node: TreeNode) -> list[TreeNode]:
    """Returns a node and those at which the moves before it were played, the latest first.

    Two lines with the same moves have the same ones, whatever nodes without a move stand between them.
    """
    return [node, *(before for before, after in reversed(list(pairwise(node.path))) if after.move is not None)]

"""A match between networks in one process: all games side by side, their positions in common batches.

Each game goes on as soon as its search is done; the side to move is searched with its own network and its own tree.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from ..evaluate.choices import AUTO, too_large
from ..evaluate.factory import make_evaluator
from ..evaluate.inputs import new_workspace, position_of
from ..evaluate.interface import Evaluator
from ..evaluate.metadata import check_profile
from ..game.coords import BLACK, EMPTY, WHITE, colour_letter
from ..game.game import Game
from ..game.rules import RULESETS, Rules, default_komi, rules_name
from ..game.scoring import Score, dead_stones, final_score
from ..search.certainty import Certainty
from ..search.parameters import SearchParameters, default_parameters
from ..search.report import SearchReport
from ..search.scheduler import Job, Scheduler
from ..search.search import Limits, Search, parts_of
from ..search.tree import bytes_per_node
from ..sgf import GameRecord, write_sgf
from .match import MOVES_PER_POINT
from .openings import Opening, choose_openings
from .results import GameResult, MatchResult, append_result, open_folder
from .sprt import Sprt

# Beyond this win rate, for so many positions in a row in the eyes of whoever is to move there, a game is decided.
_DECIDED, _DECIDED_POSITIONS = 0.97, 6
_EARLIEST_RESIGNATION = 0.25  # of the board's points, as moves
# A tree keeps what earlier searches of the game found, as long as that is not much more than one search needs.
_TREE_VISITS = 8
_PROGRESS_SECONDS = 1.0


@dataclass(frozen=True)
class Progress:
    """Where a match stands: moves played so far in the games under way, and positions evaluated since the start."""

    games: int
    moves: int
    positions: int
    seconds: float


@dataclass
class _Side:
    """One of the two players: "A" or "B"."""

    network: str
    evaluator: Evaluator
    scheduler: Scheduler
    parameters: SearchParameters

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.evaluator.name, self.parameters.profile)))


@dataclass
class _Table:
    """One game under way. searches, seconds: by player; players: who has which colour."""

    number: int
    game: Game
    players: dict[int, str]
    searches: dict[str, Search]
    seconds: dict[str, float] = field(default_factory=lambda: {"A": 0.0, "B": 0.0})
    certainty: Certainty = field(default_factory=Certainty)


def play_networks(
    network_a: str,
    network_b: str,
    *,
    games: int,
    parameters_a: SearchParameters | None = None,
    parameters_b: SearchParameters | None = None,
    visits: int = 100,
    width: int = 19,
    height: int | None = None,
    komi: float | None = None,
    rules: Rules = RULESETS["chinese"],
    openings: Path | None = None,
    opening_moves: int = 2,
    seed: int = 0,
    concurrency: int = 64,
    threads: int = 1,
    device: str = AUTO,
    precision: str = AUTO,
    sprt: Sprt | None = None,
    folder: Path | None = None,
    on_game: Callable[[MatchResult, GameResult], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> MatchResult:
    """Plays `games` games between two networks (`evaluate.factory`, "none" for playouts), `visits` a move.

    parameters_a, parameters_b: how each searches; None for what suits the network.
    komi, rules, openings, seed, sprt, folder and on_game are as in `match.play_match`; every opening is played with
    either colour. concurrency: games side by side. threads, device, precision: of the evaluators.
    A game ends by two passes, by a win that both sides are sure of for several moves, or by the move cap.
    on_progress: called about once a second.

    Raises ValueError for settings that make no sense, what is no network, a board too large for one, a profile
    missing or out of place, or a folder that holds another match; OSError for files that cannot be read or written.
    """
    for value, name in ((games, "games"), (visits, "visits"), (concurrency, "concurrency")):
        if value < 1:
            raise ValueError(f"{name} must be 1 or more, not {value}")
    height = width if height is None else height
    komi = default_komi(width, height) if komi is None else komi
    start = Game(width, height, rules=rules, komi=komi)
    chosen = choose_openings(openings, width, height, opening_moves, seed, games)
    players = {"A": _with_changes(network_a, parameters_a), "B": _with_changes(network_b, parameters_b)}
    networks, parameters = {"A": network_a, "B": network_b}, {"A": parameters_a, "B": parameters_b}
    sides = _sides(networks, parameters, start, visits, concurrency, seed, (threads, device, precision))
    try:
        done: list[GameResult] = []
        if folder is not None:
            settings = {
                "network A": players["A"],
                "network B": players["B"],
                "visits": visits,
                "board": f"{width}x{height}",
                "komi": komi,
                "rules": rules_name(rules) or rules.to_json(),
                "openings": str(openings) if openings else f"random, seed {seed}",
                "opening moves": opening_moves,
            }
            done = [result for result in open_folder(folder, settings) if result.number < games]
        match = _Match(sides, players, start, chosen, Limits(visits), games, sprt, folder, seed)
        match.results = {result.number: result for result in done}
        match.run(concurrency, on_game, on_progress)
        return match.result()
    finally:
        for evaluator in {id(side.evaluator): side.evaluator for side in sides.values()}.values():
            evaluator.close()


def _with_changes(network: str, parameters: SearchParameters | None) -> str:
    """A network and how its search differs from the usual, as in `network value_bias=0.3`."""
    usual = default_parameters(network)
    changed = (
        {}
        if parameters is None
        else {name: value for name, value in asdict(parameters).items() if value != getattr(usual, name)}
    )
    return " ".join([network, *(f"{name}={value}" for name, value in changed.items())])


def _sides(
    networks: dict[str, str],
    parameters: dict[str, SearchParameters | None],
    start: Game,
    visits: int,
    concurrency: int,
    seed: int,
    machine: tuple[int, str, str],
) -> dict[str, _Side]:
    """The players; the same network twice is one evaluator."""
    threads, device, precision = machine
    sides: dict[str, _Side] = {}
    by_network: dict[str, tuple[Evaluator, Scheduler]] = {}
    for player, network in networks.items():
        if network not in by_network:
            evaluator = make_evaluator(network, threads=threads, seed=seed, device=device, precision=precision)
            if max(start.width, start.height) > evaluator.largest_board:
                raise ValueError(too_large(evaluator.name, evaluator.largest_board))
            # About half of the games have this player to move: so each gives a leaf or two.
            scheduler = Scheduler(evaluator, concurrency, max(evaluator.batch_size, concurrency // 2))
            by_network[network] = evaluator, scheduler
        evaluator, scheduler = by_network[network]
        own = parameters[player] or default_parameters(network)
        check_profile(evaluator.name, evaluator.takes_profile, own.profile)
        megabytes = _TREE_VISITS * (visits + 1) * bytes_per_node(start.area, parts_of(own, evaluator)) / 1e6
        megabytes = min(own.tree_megabytes, max(0.1, megabytes))
        sides[player] = _Side(network, evaluator, scheduler, replace(own, tree_megabytes=megabytes))
    return sides


class _Match:
    """A match on its way."""

    def __init__(
        self,
        sides: dict[str, _Side],
        players: dict[str, str],
        start: Game,
        openings: list[Opening],
        limits: Limits,
        planned: int,
        sprt: Sprt | None,
        folder: Path | None,
        seed: int,
    ) -> None:
        self.sides = sides
        self.players = players
        self.start = start
        self.openings = openings
        self.limits = limits
        self.planned = planned
        self.sprt = sprt
        self.folder = folder
        self.seed = seed
        self.results: dict[int, GameResult] = {}
        self.tables: dict[int, _Table] = {}
        self.over: list[GameResult] = []
        self.errors: list[Exception] = []

    def result(self) -> MatchResult:
        games = tuple(self.results[number] for number in sorted(self.results))
        return MatchResult(self.players, self.planned, games, self.sprt)

    def run(
        self,
        concurrency: int,
        on_game: Callable[[MatchResult, GameResult], None] | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        waiting = iter([number for number in range(self.planned) if number not in self.results])
        schedulers = list({id(side.scheduler): side.scheduler for side in self.sides.values()}.values())
        began = told = time.monotonic()
        while not self.result().is_over:
            self._sit_down(waiting, concurrency)
            for scheduler in schedulers:
                if not scheduler.is_idle:
                    scheduler.step()
            if self.errors:
                raise self.errors[0]
            for result in self.over:
                self._keep(result, on_game)
            self.over.clear()
            now = time.monotonic()
            if on_progress and now - told >= _PROGRESS_SECONDS:
                told = now
                moves = sum(len(table.game.moves) for table in self.tables.values())
                positions = sum(scheduler.positions for scheduler in schedulers)
                on_progress(Progress(len(self.tables), moves, positions, now - began))

    def _keep(self, result: GameResult, on_game: Callable[[MatchResult, GameResult], None] | None) -> None:
        if self.result().is_over:  # games that end beside the one that decided the sequential test
            return
        if self.folder is not None:
            append_result(self.folder, result)
        self.results[result.number] = result
        if on_game:
            on_game(self.result(), result)

    def _sit_down(self, waiting: Iterator[int], concurrency: int) -> None:
        """Begins games while there is room for them."""
        while len(self.tables) < concurrency and (number := next(waiting, None)) is not None:
            game = self.start.copy()
            for move in self.openings[number // 2]:
                game.play(*move)
            black, white = ("A", "B") if number % 2 == 0 else ("B", "A")
            searches = {
                player: Search(side.evaluator, side.parameters, self.seed + 2 * number + (player == "B"))
                for player, side in self.sides.items()
            }
            table = _Table(number, game, {BLACK: black, WHITE: white}, searches)
            self.tables[number] = table
            self._think(table)

    def _think(self, table: _Table) -> None:
        """Has the side to move searched."""
        player = table.players[table.game.to_move]
        search = table.searches[player]

        def start() -> Search:
            search.set_position(table.game)
            return search

        def done(report: SearchReport | None) -> None:
            assert report is not None  # nobody cancels it
            table.seconds[player] += report.seconds
            self._play(table, search, report)

        self.sides[player].scheduler.add(Job(start, self.limits, done, self.errors.append))

    def _play(self, table: _Table, search: Search, report: SearchReport) -> None:
        """Plays the move that a search found, and goes on or ends the game."""
        game, certainty = table.game, table.certainty
        game.play(game.to_move, search.choose(report))
        certainty.see(report, _DECIDED)
        if game.is_over:
            self._count(table)
        elif certainty.positions >= _DECIDED_POSITIONS and len(game.moves) >= _EARLIEST_RESIGNATION * game.area:
            self._end(table, certainty.colour, f"{colour_letter(certainty.colour)}+R", "resignation")
        elif len(game.moves) >= MOVES_PER_POINT * game.area:
            self._end(table, EMPTY, "Void", "move cap")
        else:
            self._think(table)

    def _count(self, table: _Table) -> None:
        game = table.game
        dead = set() if game.rules.stones_stand else set(dead_stones(game, self._ownership(game)))
        margin = final_score(game, dead)
        winner = BLACK if margin > 0 else WHITE if margin < 0 else EMPTY
        self._end(table, winner, str(Score(margin)), "score")

    def _ownership(self, game: Game) -> np.ndarray:
        """Who owns each point in the eyes of both players, float [height, width], + for black."""
        position = position_of(game, new_workspace(), conservative_pass=True)
        views = []
        for side in self.sides.values():
            profile = side.parameters.profile
            ticket = side.evaluator.submit(position, np.arange(1), ownership=True, profile=profile)
            outputs = side.evaluator.collect(ticket)
            assert outputs.ownership is not None
            views.append(outputs.ownership[0])
        mean = np.mean(views, 0).reshape(game.height, game.width)
        return mean if game.to_move == BLACK else -mean

    def _end(self, table: _Table, winner: int, result: str, reason: str) -> None:
        del self.tables[table.number]
        names = {player: side.name for player, side in self.sides.items()}
        sgf = f"game-{table.number + 1:04d}.sgf" if self.folder else ""
        black, white = (f"{names[player]} ({player})" for player in (table.players[BLACK], table.players[WHITE]))
        if self.folder is not None:
            comments = {len(table.game.moves): reason}
            record = GameRecord.from_game(table.game, black=black, white=white, result=result, comments=comments)
            record.texts["RO"] = str(table.number + 1)
            write_sgf(record, self.folder / sgf, overwrite=True)
        seconds = {player: round(used, 3) for player, used in table.seconds.items()}
        self.over.append(
            GameResult(
                number=table.number,
                black=table.players[BLACK],
                winner=table.players.get(winner),
                result=result,
                reason=reason,
                moves=len(table.game.moves),
                names=names,
                seconds=seconds,
                claims={},
                sgf=sgf,
            )
        )

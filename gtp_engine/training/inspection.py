"""Samples as a person reads them: the position, and every target as the learner gets it, in text."""

from collections.abc import Iterator

import numpy as np

from ..base.errors import UserError
from ..base.messages import plural
from ..go.coords import BLACK, COLUMNS, colour_name, point_of_index, vertex
from ..go.game import Game
from .data import rows
from .data.game_records import is_held
from .data.loader import Samples, Tensors
from .data.samples import unpack_moves
from .data.shards import read_shard, shard_files
from .run_folder import RunFolder

_MOVES = 8  # of a policy target that are listed
_VALUE = "win {:.3f}, loss {:.3f}, no result {:.3f}"
_FORMATS = {
    "value": _VALUE,
    "td_value": "; ".join(3 * [_VALUE]),
    "score": "{:+.1f} points",
    "stdev": "{:.1f} points",
    "lead": "{:+.1f} points",
}
_ELSEWHERE = ("planes", "scalars", "ownership", "weights", "full_board")  # fields of a batch that get no line


def describe_samples(folder: RunFolder, count: int, random: np.random.Generator) -> Iterator[str]:
    """Yields descriptions of at most `count` samples of a run, drawn at random, each a text of several lines.

    They are from the newest file of self-play, or from one of those of the records or labels.

    Raises:
        UserError: The folder contains no run, or no samples yet.
    """
    if not folder.exists:
        raise UserError(f"{folder.path}: there is no run in this folder")
    settings = folder.settings()
    kept = folder.games if settings.command == "learn" else folder.shards
    shards = shard_files(folder.labels_of(settings) if settings.records.has_labels else kept)
    if not shards:
        raise UserError(f"{folder.path}: the run has no samples yet")
    order = shards[-1:] if settings.command == "train" else [shards[place] for place in random.permutation(len(shards))]
    for path in order:
        games = read_shard(path)
        learned = games if settings.command == "train" else games.choose(~is_held(games.games["number"]))
        samples = Samples(learned, searched_share=settings.learn.searched_share)
        if len(samples):
            break
    count = min(count, len(samples))
    yield f"{count} of {plural(len(samples), 'sample')} in {path}; all values are for the side to move"
    for number in random.choice(len(samples), count, replace=False).tolist():
        batch = samples.batch(np.array([number]), np.zeros(1, np.int64))
        yield describe(samples, int(samples.positions[number]), batch)


def describe(samples: Samples, position: int, batch: Tensors) -> str:
    """Describes a position of the samples' games, given its row, alone in a batch and under no symmetry."""
    games = samples.games
    number = int(np.searchsorted(games.move_starts, position, side="right") - 1)
    game, ahead = games.begin(number, rules="tromp-taylor"), position - int(games.move_starts[number])
    moves = unpack_moves(games.moves_of(number), game.width, game.height)
    for move in moves[:ahead]:
        game.play(*move)
    colour, point = moves[ahead]
    played = f"{colour_name(colour).capitalize()} to move plays {vertex(point, game.width, game.height)}"
    weights = batch.weights[0].tolist()
    about = f"komi {games.games['komi'][number]:g}, weight {weights[rows.POLICY]:g}"
    places = {name: getattr(rows, name.upper(), None) for name in batch._fields} | {"stdev": rows.SCORE}
    targets = {
        name: _target(name, target[0].numpy(), game, (samples.height, samples.width))
        for name, target in batch._asdict().items()
        if name not in _ELSEWHERE and ((place := places[name]) is None or weights[place])
    }
    return "\n".join(
        (
            f"game {games.games['number'][number]}, move {ahead + 1} of {len(moves)}: {played}; {about}",
            _boards(game, colour, batch, samples.width),
            *(f"{name:11} {text}" for name, text in targets.items()),
        )
    )


def _target(name: str, target: np.ndarray, game: Game, shape: tuple[int, int]) -> str:
    """Describes a target: one of those above in its units, any other by its shape.

    `shape` is that of the tensors, rows and columns.
    """
    height, columns = shape
    if name in _FORMATS:
        return _FORMATS[name].format(*target.ravel().tolist())
    if target.shape == (height * columns + 1,):
        return _policy(game, target, columns)
    if target.shape == (height * columns,):
        on_board = target.reshape(shape)[: game.height, : game.width].tolist()
        return "\n".join(("", *("   " + " ".join(f"{number:5.2g}" for number in row) for row in on_board)))
    return ", ".join(f"{number:g}" for number in target.ravel().tolist())


def _policy(game: Game, policy: np.ndarray, columns: int) -> str:
    """Lists the largest shares of a policy target, and its entropy in nats."""
    best = np.argsort(-policy, kind="stable")[: np.count_nonzero(policy)].tolist()
    entropy = sum(share * np.log(1 / share) for share in policy[best].tolist())
    names = [vertex(_point(game, index, len(policy) - 1, columns), game.width, game.height) for index in best[:_MOVES]]
    shown = ", ".join(f"{name} {policy[index]:.1%}" for name, index in zip(names, best, strict=False))
    more = f", {len(best) - _MOVES} more" if len(best) > _MOVES else ""
    return f"{shown}{more}; entropy {entropy:.2f}"


def _point(game: Game, index: int, area: int, columns: int) -> int:
    """Returns the point of a move, by its index in tensors with a number of points and of columns."""
    own = game.area if index == area else index // columns * game.width + index % columns
    return point_of_index(own, game.width, game.height)


def _boards(game: Game, colour: int, batch: Tensors, columns: int) -> str:
    """Draws the position, and beside it who will own each point if that is known: X and O surely, x and o perhaps."""
    board = str(game).splitlines()[: game.height + 2]
    if not batch.weights[0, rows.OWNERSHIP]:
        return "\n".join(board)
    owned = batch.ownership[0].numpy().reshape(-1, columns)[: game.height, : game.width]
    owned = owned if colour == BLACK else -owned
    head = "   " + " ".join(COLUMNS[: game.width])
    rows_of = [" ".join(map(_owner, row)) for row in owned.tolist()]
    beside = [head, *(f"{game.height - y:2} {row}" for y, row in enumerate(rows_of)), head]
    width = max(map(len, board)) + 4
    return "\n".join(f"{left:{width}}{right}".rstrip() for left, right in zip(board, beside, strict=True))


def _owner(share: float) -> str:
    """Returns the letter of a point's owner, given its ownership for Black."""
    letter = "x" if share > 0 else "o"
    return "." if abs(share) < 0.1 else letter.upper() if abs(share) > 0.7 else letter

"""The 8-bit integers of a network: read from a file, or made from positions of games that come with the package.

The file is `NAME.int8.npz` next to the network, or else one in the user's cache, which is written when 8-bit integers
are asked for and there is none. What they lose is measured with other positions of these games. If it is more than
`LARGEST_LOSS`, the blocks that lose most are left as they are.
"""

import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...base import folders
from ...base.errors import UserError, error_text
from ...go.game import Game
from ...nets.constants import PLANES, SCALARS
from ...nets.kernels.matmul import FLOAT32
from ...nets.kernels.network import CompiledNetwork, half_products, has_bfloat16, integer_kinds
from ...nets.library import network_name
from ...nets.quantisation import (
    FORMAT,
    Loss,
    Positions,
    Quantised,
    block_of,
    quantise,
    read_quantised,
    round_network,
    save_quantised,
)
from ...nets.schema import METADATA
from ...nets.stored import RawOutputs, StoredNetwork
from .features import NO_LADDERS, new_workspace, position_of, write_batch
from .row import output_scale

logger = logging.getLogger(__name__)

_making = threading.Lock()

# What a network may lose and still be computed in this way by default: differences that are small next to those between
# it and a stronger network (b7c96h3tfrs and b18c384nbt: 0.38 nats and 2.2 points).
LARGEST_LOSS = Loss(policy=0.01, lead=0.2)
# Positions of each game, in turns for rounding and for the loss. To take them all for rounding does not make the loss
# on records of people smaller (b7c96h3tfrs).
_POSITIONS = 7
_DECIDED = 20.0  # points of a lead whose errors count no more: they grow with the lead
# A game a line: the board's side, then the moves. Self-play by b6c64-19x19 at 8 visits a move, up to two thirds.
_GAMES = Path(__file__).with_name("calibration_games.txt")


def find_quantised(network: StoredNetwork, path: Path) -> Quantised | None:
    """Returns the 8-bit integers of a network's file that were made earlier; None if there are none for this CPU.

    Raises:
        UserError: The file next to the network is damaged, or belongs to another one.
        OSError: It cannot be read.
    """
    beside = path.with_name(f"{network_name(path)}.int8.npz")
    if beside.exists():
        found = read_quantised(beside, network)
        if integer_kinds(network.config) <= found.kinds:
            return found
    folder = _cache_folder()
    if folder is None or not folder.exists():  # most users have none: nothing is hashed
        return None
    cached = folder / _name(network)
    try:
        return read_quantised(cached, network) if cached.exists() else None
    except (UserError, OSError) as error:  # it can be made anew
        logger.warning(error_text(error))
        return None


def find_or_make_quantised(network: StoredNetwork, path: Path) -> Quantised:
    """Returns the 8-bit integers of a network's file; makes them, which can take some minutes, if there are none yet.

    Raises:
        UserError: They would lose too much in every block; or as `find_quantised`.
        OSError: As `find_quantised`.
    """
    with _making:  # another thread may be making them
        if known := find_quantised(network, path):
            return known
        name, folder = network_name(path), _cache_folder()
        logger.warning(f"{name}: rounding its weights to 8-bit integers, once, which can take some minutes")
        found = make_quantised(network)
        if not found.layers:
            raise UserError(f"{name} would lose too much in 8-bit integers: use another --precision")
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                save_quantised(found, network, folder / _name(network))
        except OSError as error:
            logger.warning(f"the 8-bit integers of {name} are not kept: {error_text(error)}")
        if folder is not None:
            _remove_old_formats(folder)
        return found


def _name(network: StoredNetwork) -> str:
    """Returns the name of the file in the cache folder, which CPUs may share that compute other kinds of layers so."""
    return f"{network.fingerprint}.{'-'.join(sorted(integer_kinds(network.config)))}.{FORMAT}.npz"


def _remove_old_formats(folder: Path) -> None:
    """Removes the files of earlier versions of the program, but not those of later ones, which may be in use too."""
    for file in folder.glob("[!.]*.npz"):
        number = file.stem.rpartition(".")[2]
        if not number.isdecimal() or int(number) < FORMAT:
            with suppress(OSError):  # another program is removing it, or Windows has it open
                file.unlink()


def round_for_file(network: StoredNetwork) -> StoredNetwork:
    """Returns `quantisation.round_network` of a network by positions of the games that come with the package."""
    rounding, _ = _positions(network.config.suicide_areas)
    return round_network(network, rounding)


def make_quantised(network: StoredNetwork) -> Quantised:
    """Rounds a network's layers to 8-bit integers, but not those of blocks that would lose too much."""
    rounding, held_back = _positions(network.config.suicide_areas)
    products = half_products() if has_bfloat16() else FLOAT32
    kinds = integer_kinds(network.config)
    layers = quantise(network, rounding, kinds)
    exact = _outputs(network, FLOAT32, {}, held_back)

    def loss(paths: Mapping[str, object]) -> Loss:
        values = Quantised({path: layers[path] for path in paths}, LARGEST_LOSS).values(kinds)
        return _difference(exact, _outputs(network, products, values, held_back), output_scale(network.config).lead)

    found = loss(layers)
    if not loses_little(found):
        blocks: dict[str, dict[str, object]] = {}
        for path in layers:
            blocks.setdefault(block_of(path), {})[path] = None
        losses = {block: loss(paths) for block, paths in blocks.items()}
        # The larger of both losses, as a share of what is allowed.
        excesses = {
            block: max(one.policy / LARGEST_LOSS.policy, one.lead / LARGEST_LOSS.lead) for block, one in losses.items()
        }
        for block in sorted(blocks, key=excesses.__getitem__, reverse=True):
            layers = {path: layer for path, layer in layers.items() if path not in blocks[block]}
            found = loss(layers)
            if loses_little(found):
                break
    return Quantised(layers, found, kinds)


def loses_little(loss: Loss) -> bool:
    """Whether a loss is small enough to be accepted by default; one that is not a number is not."""
    return loss.policy <= LARGEST_LOSS.policy and loss.lead <= LARGEST_LOSS.lead


def _difference(exact: list[RawOutputs[np.ndarray]], rounded: list[RawOutputs[np.ndarray]], lead: float) -> Loss:
    """Returns the mean loss over all positions; lead: the points of a unit of the raw lead."""
    policies, leads = [], []
    for one, other in zip(exact, rounded, strict=True):
        p, q = (_log_softmax(raw.policy[:, 0]) for raw in (one, other))
        policies.append((np.exp(p) * (p - q)).sum(1))
        size = np.abs(one.scores[:, 2]) * lead
        leads.append(np.abs(one.scores[:, 2] - other.scores[:, 2])[size < max(_DECIDED, size.min() + 1)] * lead)
    return Loss(float(np.concatenate(policies).mean()), float(np.concatenate(leads).mean()))


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _outputs(
    network: StoredNetwork, products: "np.dtype[Any]", quantised: Mapping[str, np.ndarray], positions: list[Positions]
) -> list[RawOutputs[np.ndarray]]:
    """Returns the outputs of the compiled network; a network that imitates people is told nothing of the players."""
    compiled, outputs = CompiledNetwork(network, products, quantised), []
    for planes, scalars in positions:
        nobody = np.zeros((len(planes), METADATA), np.float32) if network.config.metadata_version else None
        outputs.append(compiled(planes, scalars, nobody, full_board=True))
    return outputs


def _positions(suicide_areas: bool) -> tuple[list[Positions], list[Positions]]:
    """Returns the positions for rounding and those for the loss, each by board sizes.

    They are evenly spread over a game; each number of a game has others, so that all stages are covered.
    """
    workspace, by_size = new_workspace(), dict[int, list[list[np.ndarray]]]()
    for number, line in enumerate(_GAMES.read_text("ascii").splitlines()):
        side, *moves = line.split()
        game, stages = Game(int(side)), by_size.setdefault(int(side), [[] for _ in range(_POSITIONS)])
        stops = [(8 * index + number % 8) * len(moves) // (8 * _POSITIONS) for index in range(_POSITIONS)]
        for played, move in enumerate(moves):
            if played in stops:
                stages[stops.index(played)].append(position_of(game, workspace))
            game.play(game.to_move, move)

    def inputs(stages: list[list[np.ndarray]]) -> Positions:
        boards = np.concatenate(list(chain.from_iterable(stages)))
        side, indices = int(boards["width"][0]), np.arange(len(boards))
        planes = np.empty((len(boards), side, side, PLANES), np.uint8)
        scalars, keys = np.empty((len(boards), SCALARS), np.float32), np.empty(len(boards), np.uint64)
        views = np.zeros(len(boards), np.intp)
        write_batch(boards, indices, views, suicide_areas, workspace, planes, scalars, keys, 0, NO_LADDERS)
        return Positions(planes, scalars)

    return [inputs(stages[::2]) for stages in by_size.values()], [inputs(stages[1::2]) for stages in by_size.values()]


def _cache_folder() -> Path | None:
    """Returns the folder for the files of all networks; None for a user without a home folder."""
    try:
        return folders.cache_dir() / "int8"
    except UserError:
        return None

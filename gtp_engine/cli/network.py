"""`gtp_engine network`: what a network's file is."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..wording import reason

if TYPE_CHECKING:
    from ..network.config import NetworkConfig
    from ..network.records import BlockRecord


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE|NAME]...")
def network(files: tuple[str, ...]) -> None:
    """Say what networks are: version, size, what they predict.

    One network is described, with its card where one lies beside it (NAME.md); of several a table is made; without FILE
    the networks are listed that are found by name.

    \b
    Examples:
      gtp_engine network                                            what is there
      gtp_engine network kata1-b18c384nbt-s6582191360-d3422816034   looked up as --network does
      gtp_engine network run/*.pt                                   a table

    The exit status is 1 if a file is no network.
    """
    from ..network.library import card_of, find_network, list_networks, network_folders

    names = files or tuple(map(str, list_networks()))
    if not names:
        raise click.ClickException(f"no network in {', '.join(map(str, network_folders()))}")
    if len(files) == 1:
        path = find_network(files[0])
        for title, text in _description(path, _config(path)):
            click.echo(f"{title:<12} {text}")
        if card := card_of(path):
            click.echo(f"\n{card.read_text('utf-8').strip()}")
        return
    bad = sum(not _print_row(name) for name in names)
    if bad:
        sys.exit(1)


def _config(path: Path) -> "NetworkConfig":
    from ..network.library import load_network

    return load_network(path).config


def _print_row(name: str) -> bool:
    """A line of the table, or an error; False for what is no network."""
    from ..network.library import find_network

    try:
        path = find_network(name)
        config = _config(path)
    except (ValueError, OSError) as error:
        click.echo(f"Error: {reason(error)}", err=True)
        return False
    cells = (
        f"{path.name:<50}",
        f"version {config.version:>2}",
        f"{len(config.trunk.blocks):>3} blocks",
        f"{config.channels:>4} channels",
        f"{config.parameter_count:>11,} parameters",
        _size(path),
    )
    click.echo("  ".join(cells))
    return True


def _description(path: Path, config: "NetworkConfig") -> list[tuple[str, str]]:
    from ..network.records import TipRMSNormRecord

    rms = isinstance(config.trunk.tip_norm, TipRMSNormRecord)
    return [
        ("file", f"{path}, {_size(path).strip()}"),
        ("name", config.name),
        ("version", f"{config.version}, inputs of version {config.inputs_version}"),
        ("blocks", _blocks(config)),
        ("channels", f"{config.channels}"),
        ("parameters", f"{config.parameter_count:,}"),
        ("activation", ", ".join(config.activations)),
        ("norm", "RMS norm at the trunk's tip" if rms else "batch norm"),
        ("policy", f"with {'an' if config.has_optimism else 'no'} optimistic one beside it"),
        ("value", "win, loss, no result; score, lead, ownership"),
        ("errors", "short-term errors of value and score" if config.has_errors else "none"),
        ("metadata", "of the people to imitate: --profile" if config.metadata_version else "none"),
        ("boards", "any size (KataGo trains its networks on 7x7 to 19x19)"),
    ]


def _blocks(config: "NetworkConfig") -> str:
    """As "18 nested bottleneck (inside: 31 ordinary, 5 gpool)"."""
    from ..network.records import BottleneckBlockRecord

    outer = config.trunk.blocks
    inner = [part for block in outer if isinstance(block, BottleneckBlockRecord) for part in block.blocks]
    return _kinds(outer) + (f" (inside: {_kinds(inner)})" if inner else "")


def _kinds(blocks: "list[BlockRecord] | tuple[BlockRecord, ...]") -> str:
    from ..network.records import BLOCK_KINDS

    names = {cls: kind.removesuffix("_block").replace("_", " ") for kind, cls in BLOCK_KINDS.items()}
    counts = Counter(names[type(block)] for block in blocks)
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:>7.1f} MB"

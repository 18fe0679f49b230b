"""`gtp_engine network`: describes network files, and gets published ones."""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.errors import UserError, error_text
from ...base.fields import Text, parse_board_size
from ...base.languages.texts import texts
from ...base.messages import printable, size_text
from ...base.settings import setting
from ...engine.settings import NETWORK
from ...go.coords import MIN_SIZE
from ...go.rules import rules_phrase
from ...nets.library import find_card, find_network, learned_rules, list_networks, load_network, network_folders
from ...search.evaluate.choices import LARGEST_BOARD
from .command import command
from .options import ANY_PATH
from .outputs import check_place, report_written

GET = "get"

if TYPE_CHECKING:
    from ...nets.config import NetworkConfig
    from ...nets.schema import BlockDesc


def _side(text: str) -> int:
    """Returns the points of the longer side of a board."""
    return max(parse_board_size(text, MIN_SIZE, LARGEST_BOARD))


@dataclass(frozen=True)
class NetworkOptions:
    """Which networks.

    Attributes:
        files: Names or files of networks; after `get` the name of a published one.
        source: Take it from this address or file instead.
        default: Make it the default of all commands.
        default_on: Make it the default on boards of this size only.
        rounded: Write the network, a transformer, to a new file with its weights rounded to 8-bit integers.
    """

    files: tuple[str, ...] = setting((), accepts=NETWORK, argument=True, nargs=-1, metavar="[get] [FILE|NAME]...")
    source: str | None = setting(
        None, accepts=Text(None, "address", None, True), flags=["--from"], metavar="URL|FILE", heading="After get"
    )
    default: bool = setting(False, is_flag=True, together="default")
    default_on: int | None = setting(None, accepts=Text(_side, "size"), metavar="SIZE", together="default")
    rounded: Path | None = setting(None, accepts=ANY_PATH, metavar="OUT.bin.gz", heading="With one FILE")


@command(groups={"options": NetworkOptions}, exclusive=(("default", "default_on"),))
def network(options: NetworkOptions) -> None:
    """Describe network files: version, size, what they predict. Get KataGo's published ones.

    One network is described in detail, with its card if there is one next to it (NAME.md); several are listed in a
    table. Without FILE, lists the networks that are found by name.

    After `get`, lists KataGo's published networks with their size, their rating and their speed on this computer, or
    downloads the named one to the folder that `doctor` shows. It is used once it is complete and its checksum is right.
    Ctrl-C keeps the partial file: the same command resumes. Nothing is ever downloaded without this command.
    HTTPS_PROXY and NO_PROXY name proxies, SSL_CERT_FILE a file with certificates to trust.

    \b
    Examples:
      gtp_engine network                    the installed networks
      gtp_engine network kata1-b18c384      by its name
      gtp_engine network run/*.pt           a table
      gtp_engine network get                KataGo's published networks
      gtp_engine network get tf3-b10c512 --default     download one and use it
      gtp_engine network get kata9x9 --default-on 9    the same, on 9x9 only
      gtp_engine network get kata9x9 --from ~/Downloads/kata9x9-b18c384nbt-20231025.bin.gz
      gtp_engine network b10c512h8 --rounded int8.bin.gz    a smaller file

    The exit status is 1 if a file is not a network.
    """
    if options.files[:1] == (GET,):
        if options.rounded:
            raise click.UsageError(f"--rounded does not go with `gtp_engine network {GET}`")
        _get(options)
        return
    if options.source or options.default or options.default_on:
        raise click.UsageError(f"--from, --default and --default-on go with `gtp_engine network {GET}`")
    if options.rounded:
        _write_rounded(options.files, options.rounded)
        return
    names = options.files or tuple(map(str, list_networks()))
    if not names:
        raise click.ClickException(f"no network in {', '.join(map(str, network_folders()))}")
    if len(options.files) == 1:
        path = find_network(names[0])
        for title, text in _description(path, load_network(path).config):
            click.echo(f"{title:<12} {printable(text)}")
        if card := find_card(path):
            click.echo(f"\n{printable(card.read_text('utf-8-sig', 'replace').expandtabs(4).strip())}")
        return
    if sum(not _print_row(name) for name in names):
        sys.exit(1)


def _write_rounded(names: tuple[str, ...], out: Path) -> None:
    """Writes a network with its weights rounded to 8-bit integers."""
    if len(names) != 1:
        raise click.UsageError(f"--rounded takes one network, not {len(names)}")
    path = find_network(names[0])
    if out.exists():
        raise UserError(f"{out} already exists; choose another name")
    check_place(out)
    from ...nets.katago_file import write_katago_file
    from ...search.evaluate.calibration import round_for_file

    # The smallest file: it is written once, and downloaded often.
    write_katago_file(round_for_file(load_network(path)), out, level=9)
    report_written(out)


def _get(options: NetworkOptions) -> None:
    """Lists the published networks, or gets one."""
    from .getting import ALL_BOARDS, get, show_list

    names = options.files[1:]
    if len(names) > 1:
        raise click.UsageError(f"name one network, not {len(names)}")
    if not names and not options.source:
        if options.default or options.default_on:
            raise click.UsageError("name the network to make the default")
        show_list()
        return
    side = options.default_on
    get(names[0] if names else None, options.source, (side, side) if side else ALL_BOARDS if options.default else None)


def _print_row(name: str) -> bool:
    """Prints a line of the table, or an error; returns False if the file is not a network."""
    try:
        path = find_network(name)
        config = load_network(path).config
    except (UserError, OSError) as error:
        click.echo(f"Error: {error_text(error)}", err=True)
        return False
    cells = (
        f"{printable(path.name):<50}",
        f"version {config.version:>2}",
        f"{len(config.trunk.blocks):>3} blocks",
        f"{config.channels:>4} channels",
        f"{config.parameter_count:>11,} parameters",
        f"{size_text(path.stat().st_size):>10}",
    )
    click.echo("  ".join(cells))
    return True


def _description(path: Path, config: "NetworkConfig") -> list[tuple[str, str]]:
    """Returns titles and texts for one network."""
    from ...nets.schema import TipRMSNormDesc

    rules = ", ".join(texts().say(rules_phrase(name)) for name in learned_rules(path))
    rms = isinstance(config.trunk.tip_norm, TipRMSNormDesc)
    return [
        ("file", f"{path}, {size_text(path.stat().st_size)}"),
        ("name", config.name),
        ("version", f"{config.version}"),
        ("blocks", _blocks(config)),
        ("channels", f"{config.channels}"),
        ("parameters", f"{config.parameter_count:,}"),
        ("activation", ", ".join(config.activations)),
        ("norm", "RMS norm at the trunk's tip" if rms else "batch norm"),
        ("policy", "with an optimistic policy" if config.has_optimism else "without an optimistic policy"),
        ("errors", "short-term errors of value and score" if config.has_errors else "none"),
        ("metadata", "human profiles: --profile" if config.metadata_version else "none"),
        ("rules", f"{rules}; games under others are evaluated as under the nearest of these" if rules else "not noted"),
    ]


def _blocks(config: "NetworkConfig") -> str:
    """Returns the kinds of blocks, such as "18 nested bottleneck (inside: 31 ordinary, 5 gpool)"."""
    from ...nets.schema import BottleneckBlockDesc

    outer = config.trunk.blocks
    inner = [part for block in outer if isinstance(block, BottleneckBlockDesc) for part in block.blocks]
    return _kinds(outer) + (f" (inside: {_kinds(inner)})" if inner else "")


def _kinds(blocks: "list[BlockDesc] | tuple[BlockDesc, ...]") -> str:
    from ...nets.schema import BLOCK_KINDS

    names = {cls: kind.removesuffix("_block").replace("_", " ") for kind, cls in BLOCK_KINDS.items()}
    counts = Counter(names[type(block)] for block in blocks)
    return ", ".join(f"{count} {name}" for name, count in counts.items())

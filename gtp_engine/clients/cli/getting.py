"""`gtp_engine network get`: the list of published networks, and downloads of them."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from ...base import folders, interrupts
from ...base.errors import UserError
from ...base.files import is_same_file, read_text, write_text
from ...base.log import NOTICE
from ...base.messages import plural, printable
from ...base.system import available_cpus, quoted
from ...engine.settings import DEFAULT_SECONDS
from ...nets.library import OWN_TABLE, find_network, load_network, network_name, own_networks
from ...nets.published import (
    LICENCE,
    REFERENCE,
    PublishedNetwork,
    estimated_rates,
    find_published,
    published_networks,
    strongest,
)
from ...search.evaluate.choices import LARGEST_BOARD
from .config import TEMPLATE
from .doctor import cpu, gpu
from .options import variable
from .speed import ENOUGH, ENOUGH_VISITS, network_rate

Boards: TypeAlias = tuple[int, int]  # the longer side's least and most points
ALL_BOARDS = (7, LARGEST_BOARD)  # those that KataGo trains its networks on
logger = logging.getLogger(__name__)


def show_list() -> None:
    """Prints the published networks, with what they cost on this processor."""
    device, reference = network_rate(find_network(REFERENCE))
    networks = published_networks()
    here = {name: path for name, network in networks.items() if (path := network.find())}
    rates = estimated_rates(reference) | {name: network_rate(path)[1] for name, path in here.items()}
    best = strongest(rates, ENOUGH).name
    place = f"{cpu()}, {plural(available_cpus(), 'thread')}" if device == "cpu" else gpu()
    click.echo(f"KataGo's networks; positions a second on 19x19, {place}:\n")
    click.echo(f"  {'name':<12} {'MB':>6} {'Elo':>7} {'pos/s':>8}")
    for name, network in networks.items():
        rating = f"{network.rating:,}" if network.rating else "-"
        speed = f"{rates[name]:,.1f}" if rates[name] < 10 else f"{rates[name]:,.0f}"
        facts = [network.about, "measured, it is here" if name in here else "estimated"]
        facts += ["recommended here"] if name == best else []
        mark = "*" if name == best else " "
        click.echo(f"{mark} {name:<12} {network.megabytes:>6g} {rating:>7} {speed:>8}  {'; '.join(facts)}")
    click.echo(
        f"\nrecommended: the strongest that makes {ENOUGH_VISITS} visits in {DEFAULT_SECONDS:g} s, else the one that "
        "comes with the program\n"
        "Elo: the highest on katagotraining.org of a network of this kind, at equal visits; - if it is not known\n"
        f"licence: {LICENCE}\n"
        "`gtp_engine network get NAME` downloads one; more networks: https://katagotraining.org/networks/ and --from"
    )


def get(name: str | None, source: str | None, default_on: Boards | None) -> None:
    """Gets a network, and makes it the default on some boards if that is wanted.

    `name` is that of a published network, None for one that only `source` names; `source` is the address or the file to
    take it from, None for where KataGo publishes it; `default_on` are the boards, the longer side's least and most
    points.
    """
    from ...nets.download import Source, check_file_name, file_name_of

    if source and "://" in source:
        Source(source)  # refuses what is not an address
    network = find_published(name) if name is not None else None
    if network is not None:
        file_name = network.file_name
    else:
        assert source is not None
        file_name = file_name_of(source) if "://" in source else check_file_name(Path(source).name, source)
    if source and "://" not in source and not Path(source).is_file():
        raise UserError(f"--from {source}: there is no such file; an address begins with https://")
    path = folders.networks_dir() / file_name
    if (found := network.find() if network and not source else path if path.exists() else None) is not None:
        is_rounded = found.name != file_name
        what = "; it is this network with its weights rounded to 8-bit integers" if is_rounded else ""
        if source and not is_same_file(Path(source), found):
            what = "; to take another file of this name, move it away"
        click.echo(f"{found} is here already{what}")
        if network and not is_rounded:
            _check_again(network, found)
        path = found
    else:
        _load(network, source or "", path)
    used, imitates_people = network_name(path), load_network(path).config.metadata_version > 0
    if default_on is None:
        always = f"gtp_engine network get {f'--from {quoted(str(path))}' if name is None else name} --default"
        click.echo(
            f"to use it: --network {used}{' --profile rank_5k' if imitates_people else f'; to use it always: {always}'}"
        )
    elif imitates_people:
        raise UserError(f"{used} imitates people, and does not judge: use it with --network {used} --profile rank_5k")
    else:
        make_default(used, default_on)


def _check_again(network: PublishedNetwork, path: Path) -> None:
    """Raises UserError, which says what to do, if a file that is here already is not the published network."""
    from ...nets.download import check
    from ...nets.katago_file import NetworkFileError

    try:
        check(path, network.sha256)
    except NetworkFileError as error:
        raise UserError(f"{error}; move it away, and run the same command again") from error


def _load(network: PublishedNetwork | None, source: str, path: Path) -> None:
    """Downloads or copies a network, and says before what comes from where, and under which licence."""
    from ...nets.download import Source, download, kept_text, listed_size, take

    sha256 = network.sha256 if network else ""
    licence = LICENCE if network else "not known: it is not in the list"
    checksum = "SHA-256, known" if sha256 else "not known: the network is only read"
    url = source or (network.url if network else "")
    size = f", {network.megabytes:g} MB" if network else ""
    for title, text in (("network", f"{network_name(path)}{size}"), ("from", url), ("to", str(path))):
        click.echo(f"{title:<9} {printable(text)}")
    click.echo(f"licence   {licence}\nchecksum  {checksum}")
    if "://" not in url:
        take(Path(url), path, sha256)
    else:
        wanted = Source(url, sha256)
        if network:
            wanted = replace(wanted, largest=listed_size(network.megabytes))
        interrupts.raise_again()
        part = path.with_name(f"{path.name}.part")
        try:
            with _bar(path.name) as watch:
                download(wanted, path, watch)
        except KeyboardInterrupt:
            click.echo(f"\nstopped; {kept_text(wanted, part)}", err=True)
            raise
    click.echo(f"complete: {'its checksum is right' if sha256 else 'it can be read'}")


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Shows the progress of a download as a bar within a `with` block; on terminals only."""
    console = Console(stderr=True)
    text = TextColumn("{task.description}", markup=False)
    columns = text, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    is_shown = console.is_terminal and logger.isEnabledFor(NOTICE)
    with Progress(*columns, console=console, transient=True, disable=not is_shown) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def make_default(name: str, boards: Boards) -> None:
    """Writes a network into the user's configuration, as the default on these boards alone; all else in the file stays.

    It replaces a network that was the default on the same boards, and `network` if it is the default on all. Raises
    UserError if there is no home folder, or the file is not what it should be.
    """
    import tomlkit

    path = folders.configuration_file()
    if path is None:
        raise UserError("this user has no home folder: set HOME, or GTP_ENGINE_CONFIG to the name of a file")
    before = own_networks()
    document = tomlkit.parse(read_text(path) if path.exists() else TEMPLATE)
    table = document.setdefault(OWN_TABLE, {})
    for other in [other for other, entry in before.items() if entry == boards]:
        del table[other]
    table[name] = list(boards)
    if boards == ALL_BOARDS:
        document.pop("network", None)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, tomlkit.dumps(document))
    click.echo(f"the default on {_where(boards)} is now {name}: {path} has {name} = {list(boards)} under [{OWN_TABLE}]")
    if before.get(name, boards) != boards:
        click.echo(f"until now it was that on {_where(before[name])}")
    if "network" in document:
        click.echo(f"but {path} also has network = {document['network']!r}, which overrides it: remove that", err=True)
    if os.environ.get(variable("network")):
        click.echo(f"but {variable('network')} is set, which overrides it", err=True)


def _where(boards: Boards) -> str:
    """Returns boards in words, such as "9x9"."""
    least, most = boards
    return f"boards of {least} to {most} points" if least < most else f"{most}x{most}"

"""`gtp_engine network get`: the list of published networks, and downloads of them."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from ...base import folders, interrupts
from ...base.errors import UserError
from ...base.files import write_text
from ...base.log import NOTICE
from ...base.messages import plural, printable, size_text
from ...base.system import available_cpus
from ...engine.settings import DEFAULT_SECONDS
from ...nets.library import find_network, network_name
from ...nets.published import LICENCES, REFERENCE, PublishedNetwork, find_published, published_networks
from ...search.evaluate.choices import LARGEST_BOARD
from .config import TEMPLATE
from .doctor import cpu, gpu
from .options import variable

_ENOUGH_VISITS = 100  # a move, in the engine's usual time: what the network recommended here must reach
logger = logging.getLogger(__name__)


def show_list() -> None:
    """Prints the published networks, with what they cost on this processor."""
    device, reference = _rate(find_network(REFERENCE))
    rates = {name: reference / network.cost for name, network in published_networks().items()}
    here = {name: path for name, network in published_networks().items() if (path := network.find())}
    rates |= {name: _rate(path)[1] for name, path in here.items()}
    least = _ENOUGH_VISITS / DEFAULT_SECONDS
    best, *others = list(rates)[:-1]  # without the one that imitates people
    best = next((name for name in reversed(others) if rates[name] >= least), best)
    click.echo(f"KataGo's networks, from the weakest to the strongest; positions a second on 19x19, {device}:\n")
    click.echo(f"  {'name':<12} {'MB':>6} {'Elo':>7} {'pos/s':>8}")
    for name, network in published_networks().items():
        rating = f"{network.rating:,}" if network.rating else "-"
        speed = f"{rates[name]:,.1f}" if rates[name] < 10 else f"{rates[name]:,.0f}"
        facts = [network.about, "measured, it is here" if name in here else "estimated"]
        facts += ["recommended here"] if name == best else []
        mark = "*" if name == best else " "
        click.echo(f"{mark} {name:<12} {network.megabytes:>6g} {rating:>7} {speed:>8}  {'; '.join(facts)}")
    click.echo(
        f"\nrecommended: the strongest that makes {_ENOUGH_VISITS} visits in {DEFAULT_SECONDS:g} s\n"
        "Elo: on katagotraining.org in September 2026, of b28c512nbt in October 2025; - where we do not know it\n"
        f"licences: g170 networks (b6c96 to b15c192) CC0, the others KataGo's, {LICENCES}\n"
        f"`gtp_engine network get {best}` loads one; more networks: https://katagotraining.org/networks/ and --from"
    )


def _rate(path: Path) -> tuple[str, float]:
    """Returns where a network is computed, and the positions a second."""
    from ...search.evaluate.network_evaluator import NetworkEvaluator
    from .speed import bare_rate, random_position

    threads = available_cpus()
    evaluator = NetworkEvaluator(path, threads=threads)
    try:
        game = random_position(LARGEST_BOARD, LARGEST_BOARD, 60)
        is_cpu = evaluator.device == "cpu"
        rate = bare_rate(evaluator, game, 8 * threads if is_cpu else 64, threads)
        return f"{cpu()}, {plural(threads, 'thread')}" if is_cpu else gpu(), rate
    finally:
        evaluator.close()


def get(name: str | None, source: str | None, *, is_default: bool) -> None:
    """Gets a network, and makes it the default of all commands if that is wanted.

    `name` is that of a published network, None for one that only `source` names; `source` is the address or the file to
    take it from, None for where KataGo publishes it.
    """
    from ...nets.download import check_file_name, file_name_of

    network = find_published(name) if name is not None else None
    if network is not None:
        file_name = network.file_name
    else:
        assert source is not None
        file_name = file_name_of(source) if "://" in source else check_file_name(Path(source).name, source)
    path = folders.networks_dir() / file_name
    if (found := network.find() if network else path if path.exists() else None) is not None:
        click.echo(f"{found} is here already")
    else:
        _load(network, source or "", path)
    if is_default:
        make_default(network_name(path))
    else:
        always = f"gtp_engine network get {f'--from {path}' if name is None else name} --default"
        click.echo(f"to use it: --network {network_name(path)}; to use it always: {always}")


def _load(network: PublishedNetwork | None, source: str, path: Path) -> None:
    """Downloads or copies a network, and says before what comes from where, and under which licence."""
    from ...nets.download import Source, download, listed_size, take

    sha256 = network.sha256 if network else ""
    licence = f"{network.licence}, {LICENCES}" if network else "not known: it is not in the list"
    checksum = "SHA-256, known" if sha256 else "not known: the network is only read"
    url = source or (network.url if network else "")
    size = f", {network.megabytes:g} MB" if network else ""
    for title, text in (("network", f"{network_name(path)}{size}"), ("from", url), ("to", str(path))):
        click.echo(f"{title:<9} {printable(text)}")
    click.echo(f"licence   {licence}\nchecksum  {checksum}")
    if "://" not in url:
        if not Path(url).is_file():
            raise UserError(f"--from {url}: there is no such file; an address begins with https://")
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
            kept = size_text(part.stat().st_size if part.exists() else 0)
            click.echo(f"\nstopped; {kept} are kept: run the same command again to resume", err=True)
            raise
    click.echo(f"complete: {'its checksum is right' if sha256 else 'it can be read'}")


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Shows the progress of a download within a `with` block: a bar on a terminal, elsewhere a line every tenth."""
    console, has_notices = Console(stderr=True), logger.isEnabledFor(NOTICE)
    text = TextColumn("{task.description}", markup=False)
    columns = text, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    shows_bar = console.is_terminal and has_notices
    tenths = -1 if has_notices and not shows_bar else 10
    with Progress(*columns, console=console, transient=True, disable=not shows_bar) as progress:
        task = progress.add_task(name, total=None)

        def watch(done: int, total: int | None) -> None:
            nonlocal tenths
            progress.update(task, completed=done, total=total)
            if total is not None and (reached := 10 * done // max(total, 1)) > tenths:
                tenths = reached
                click.echo(f"{size_text(done)} of {size_text(total)}", err=True)

        yield watch


def make_default(name: str) -> None:
    """Writes a network into the user's configuration; all else in the file stays.

    Raises UserError if there is no home folder, or the file is not TOML.
    """
    import tomlkit
    from tomlkit.exceptions import ParseError

    path = folders.configuration_file()
    if path is None:
        raise UserError("this user has no home folder: set HOME, or GTP_ENGINE_CONFIG to the name of a file")
    try:
        text = path.read_text("utf-8-sig") if path.exists() else TEMPLATE
        document = tomlkit.parse(text)
    except (ParseError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}; correct it first") from error
    document["network"] = name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, tomlkit.dumps(document))
    click.echo(f'the default is now {name}: {path} has network = "{name}"; remove that line for the bundled one')
    if os.environ.get(variable("network")):
        click.echo(f"but {variable('network')} is set, which overrides it", err=True)

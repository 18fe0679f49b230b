"""KataGo's published networks: the list of those that `gtp_engine network get` offers, `weights/published.toml`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from ..base.fields import unknown
from .library import bundled_folder, list_networks, network_name

LIST_FILE = "published.toml"
REFERENCE = "b6c64-19x19"  # the bundled network whose speed tells that of the others


@dataclass(frozen=True)
class PublishedNetwork:
    """A network that can be downloaded."""

    name: str  # a short one
    url: str
    megabytes: float  # the size of its file, in millions of bytes
    sha256: str  # the checksum of the file, or of what is in it: servers have compressed some networks anew
    cost: float  # how many evaluations of `REFERENCE` take as long as one of it, on 19x19
    licence: str  # the licence, which `LICENCES` has
    about: str  # what it is good for
    rating: int | None = None  # its Elo rating on katagotraining.org; None if it is not known

    @property
    def file_name(self) -> str:
        """The name of its file, which is what other programs call it."""
        return urlsplit(self.url).path.rpartition("/")[2]

    @property
    def host(self) -> str:
        """The server that it comes from."""
        return urlsplit(self.url).netloc

    def find(self) -> Path | None:
        """Returns its file if it is among the networks that are found by name."""
        return next((path for path in list_networks() if path.name == self.file_name), None)


LICENCES = "https://katagotraining.org/network_license/"


@cache
def published_networks() -> dict[str, PublishedNetwork]:
    """Returns the networks by their short names, from weak to strong; the last one imitates people."""
    entries = tomllib.loads((bundled_folder() / LIST_FILE).read_text("utf-8"))
    return {name: PublishedNetwork(name, **entry) for name, entry in entries.items()}


def usual_network() -> PublishedNetwork:
    """Returns the network to get where a bundled one is too weak.

    KataGo's README (2026) recommends a b18 for weak machines too: it is slower than the older ones, but much better.
    """
    return published_networks()["b18c384nbt"]


def offer() -> str:
    """Returns what to type for a stronger network: it names the command, or the option if the network is here."""
    usual = usual_network()
    if (path := usual.find()) is not None:
        return f"add --network {network_name(path)}"
    return f"`gtp_engine network get {usual.name}` loads KataGo's ({usual.megabytes:g} MB from {usual.host})"


def find_published(name: str) -> PublishedNetwork:
    """Returns a network by its short name, the name of its file, or the beginning of exactly one of these.

    Raises:
        UserError: There is none, or there are several.
    """
    networks = published_networks()
    names = {entry.name: entry for entry in networks.values()}
    names |= {network_name(Path(entry.file_name)): entry for entry in networks.values()}
    wanted = network_name(Path(name.strip()))
    fitting = {entry.name for key, entry in names.items() if wanted and key.startswith(wanted)}
    if wanted not in names and len(fitting) != 1:
        raise unknown("published network", name, tuple(networks))
    return names[wanted] if wanted in names else networks[fitting.pop()]

"""KataGo's published networks: the list of those that `gtp_engine network get` offers, `weights/published.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from ..base.fields import unknown
from .library import bundled_folder, list_networks, network_name

LIST_FILE = "published.toml"
REFERENCE = "b6c64-19x19"  # the bundled network whose speed tells that of the others
LICENCE = "KataGo Neural Network License, https://katagotraining.org/network_license/"  # of all networks in the list


@dataclass(frozen=True)
class PublishedNetwork:
    """A network that can be downloaded."""

    name: str  # a short one
    url: str
    megabytes: float  # the size of its file, in millions of bytes
    sha256: str  # the checksum of the file, or of what is in it: servers have compressed some networks anew
    cost: float  # how many evaluations of `REFERENCE` take as long as one of it, on 19x19
    about: str  # what it is good for
    rating: int = 0  # the highest Elo of a network with its layers on katagotraining.org; 0: not known
    rounded: str = ""  # the bundled network which is this one with rounded weights

    @property
    def file_name(self) -> str:
        """The name of its file, which is what other programs call it."""
        return urlsplit(self.url).path.rpartition("/")[2]

    @property
    def files(self) -> tuple[str, str]:
        """The names of its file, and of the bundled one, rounded."""
        return self.file_name, f"{self.rounded}.bin.gz"

    def find(self) -> Path | None:
        """Returns the first of these files that is among the networks that are found by name."""
        found = {path.name: path for path in list_networks()}
        return next((found[file] for file in self.files if file in found), None)


@cache
def published_networks() -> dict[str, PublishedNetwork]:
    """Returns the networks by their short names; the first is the one that comes with the program."""
    entries = tomllib.loads((bundled_folder() / LIST_FILE).read_text("utf-8"))
    return {name: PublishedNetwork(name, **entry) for name, entry in entries.items()}


def estimated_rates(reference: float) -> dict[str, float]:
    """Returns the evaluations a second of each network by its short name, of those of `REFERENCE`."""
    return {name: reference / network.cost for name, network in published_networks().items()}


def strongest(rates: Mapping[str, float], least: float) -> PublishedNetwork:
    """Returns the strongest network, by its rating, that makes at least so many evaluations a second.

    Args:
        rates: The evaluations a second of each network, by its short name.
        least: How many it must make. If none does, the network that comes with the program is returned.
    """
    first, *others = published_networks().values()
    fast = (network for network in others if network.rating and rates[network.name] >= least)
    return max(fast, key=lambda network: network.rating, default=first)


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

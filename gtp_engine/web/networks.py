"""The networks that a page may choose from, by name: a page never names a file."""

from pathlib import Path

from ..evaluate.choices import AUTO, ROLLOUTS
from ..network.library import list_networks, network_name


def network_choices() -> dict[str, str]:
    """Returns what `EngineSettings.network` is for each choice: "auto", "none", and the names of the networks."""
    return {AUTO: AUTO, ROLLOUTS: ROLLOUTS} | {network_name(path): str(path) for path in list_networks()}


def chosen_network(network: str) -> str:
    """Returns the choice for a value of `EngineSettings.network`; a file that is no choice has its own name."""
    return network if network in (AUTO, ROLLOUTS) else network_name(Path(network))

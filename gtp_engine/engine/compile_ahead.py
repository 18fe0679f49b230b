"""Compiling once, before several processes start that would each compile the same."""

from ..base.warm_up import is_cold
from ..nets.library import default_network
from ..search.evaluate.choices import UNIFORM
from .settings import EngineSettings
from .worker import SearchWorker


def compile_ahead() -> None:
    """Compiles what playing with networks needs, if nothing is compiled yet."""
    if is_cold():
        network = default_network(9, 9)
        worker = SearchWorker(EngineSettings(str(network) if network else UNIFORM, threads=1))
        worker.warm_up()
        worker.close()

"""Commands that run in the tests' own process, where everything is imported and compiled already."""

import signal
from typing import Any

from click.testing import CliRunner, Result

from gtp_engine.clients.cli import main


def invoke(*arguments: str, **options: Any) -> Result:
    """Runs `gtp_engine` with these arguments, and `options` of click's runner; signals are handled as before then."""
    on_end = signal.getsignal(signal.SIGTERM)
    try:
        return CliRunner().invoke(main, arguments, prog_name="gtp_engine", **options)
    finally:
        signal.signal(signal.SIGTERM, on_end)

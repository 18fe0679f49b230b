"""`python -m gtp_engine` is the command `gtp_engine`."""

from gtp_engine.clients.cli import main

main(prog_name="gtp_engine")

"""`python -m gtp_engine` is the command `gtp_engine`."""

from gtp_engine.cli import main

main(prog_name="gtp_engine")

# make play    a game in the terminal          make test    the fast tests
# make check   ruff and mypy
#
# Each sets up .venv first; that is done once, and again when setup.cfg or constraints.txt changed.
# TORCH=cpu takes PyTorch's build without CUDA on Linux: 0.2 GB to download instead of 3 GB.
# PYTHON=python3.12 chooses the interpreter that .venv is made from.

SHELL := bash
.SHELLFLAGS := -o pipefail -ec

PYTHON ?= python3
TORCH ?=
BIN := .venv/bin
INDEX := $(if $(filter cpu,$(TORCH)),--extra-index-url https://download.pytorch.org/whl/cpu)
LARGE := /Downloading .*([0-9][0-9]\.[0-9] MB|[0-9] GB)/ {print "  " $$2, $$3, $$4}

.PHONY: play test check compiled

play: compiled
	@$(BIN)/gtp_engine play

test: compiled
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile

check: .venv/installed
	@$(BIN)/ruff check .
	@$(BIN)/mypy

# Takes a minute where the core changed or was never compiled on this machine, and shows it; else a second.
compiled: .venv/installed
	@$(BIN)/python -m gtp_engine.cli.compiling

.venv/installed: setup.cfg pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("gtp_engine needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up .venv (once; large downloads are shown) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check $(INDEX) -c constraints.txt -e '.[dev]' \
		2>.venv/pip.log | awk '$(LARGE)' || { cat .venv/pip.log >&2; exit 1; }
	@touch $@
	@echo "Done."

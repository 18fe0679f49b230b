# make play    a game in the terminal          make test    the fast tests
# make check   ruff and mypy                   make wheel   a wheel with machine code for common processors, in dist
#
# Each sets up .venv first, with what it needs; that is done once, and again when setup.cfg or constraints.txt changed.
# On Linux without an NVIDIA driver PyTorch's build without CUDA is installed: 0.2 GB to download instead of 3 GB.
# make play ARGS="--board-size 13 --rank 10k" passes options to the game.
# TORCH=cpu or TORCH=cuda chooses the build. PYTHON=python3.12 chooses the interpreter that .venv is made from.

# Where it is set, each of the tests' processes would compile all sources again.
unexport PYTHONDONTWRITEBYTECODE

SHELL := bash
.SHELLFLAGS := -o pipefail -ec

PYTHON ?= python3
BIN := .venv/bin
# The driver shows itself here on Linux, and on Windows' Linux (WSL) by the device.
DRIVER := $(wildcard /proc/driver/nvidia/version /dev/dxg)
TORCH ?= $(if $(DRIVER),cuda,cpu)
TORCH_INDEX := https://download.pytorch.org/whl/cpu
LARGE := /Downloading .*([0-9][0-9]\.[0-9] MB|[0-9] GB)/ {print "  " $$2, $$3, $$4}

# $(call install,EXTRAS) installs the package and marks its target as done.
define install
	@set -o pipefail; $(BIN)/python -m pip install --disable-pip-version-check $(2) -c constraints.txt -e '.$(1)' \
		2>.venv/pip.log | awk '$(LARGE)' || { cat .venv/pip.log >&2; exit 1; }
	@touch $@
	@echo "Done."
endef

.PHONY: play test check wheel compiled

play: .venv/installed
	@$(BIN)/gtp_engine play $(ARGS)

test: .venv/developer compiled
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

check: .venv/developer
	@$(BIN)/ruff check .
	@$(BIN)/mypy

wheel: .venv/installed
	@$(BIN)/python tools/build_wheel.py

# Takes a while if the core changed or was never compiled on this machine, and shows it; otherwise a second.
compiled: .venv/installed
	@$(BIN)/python -m gtp_engine.clients.cli.compiling

.venv/installed: setup.cfg pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("gtp_engine needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up .venv (once; large downloads are shown) ..."
	@$(PYTHON) -m venv $$([ -x .venv/bin/pip ] || echo --clear) .venv  # anew if it was interrupted the last time
	@rm -f .venv/index; if [ "$(TORCH)" = cpu ] && [ "$$(uname -s)" = Linux ]; then \
		$(BIN)/python -c 'from urllib.request import urlopen; urlopen("$(TORCH_INDEX)/", timeout=10)' 2>/dev/null \
			&& echo "--extra-index-url $(TORCH_INDEX)" >.venv/index \
			|| printf '%s\n' "  $(TORCH_INDEX) cannot be reached:" "  PyTorch comes from pip's usual index"; \
	fi
	$(call install,,$$(cat .venv/index 2>/dev/null))

.venv/developer: .venv/installed
	@echo "Adding the test tools to .venv ..."
	$(call install,[dev])

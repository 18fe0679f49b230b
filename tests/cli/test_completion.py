"""What shells complete."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete, get_completion_class

from gtp_engine.clients.cli import COMMANDS, main


def complete(*words: str) -> list[tuple[str, str]]:
    """Returns values and types for the last word, which is incomplete."""
    completer = ShellComplete(main, {}, "gtp_engine", "_GTP_ENGINE_COMPLETE")
    return [(item.value, item.type) for item in completer.get_completions(list(words[:-1]), words[-1])]


def values(*words: str) -> list[str]:
    return [value for value, _ in complete(*words)]


def test_commands_and_options() -> None:
    assert values("") == [*COMMANDS, "help"]
    assert values("se") == ["selfplay"]
    assert values("gtp", "--ve") == ["--version-as", "--verbose"]
    assert values("gtp", "--no-") == ["--no-strict", "--no-ponder", "--no-resign"]
    assert values("train", "--preset", "mi") == ["mini"]
    assert values("gtp", "--device", "c") == ["cpu", "cuda"]


def test_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path))
    (tmp_path / "mine-7.bin.gz").touch()
    assert values("play", "--network", "m") == ["mine-7"]
    assert {"auto", "none", "mine-7", "b6c64-19x19"} <= set(values("gtp", "--network", ""))
    assert values("match", "--network", "none", "--network", "mi") == ["mine-7"]
    for command in (["network"], ["learn", "--teacher"], ["learn", "--from"], ["train", "run", "--from"]):
        assert values(*command, "mi") == ["mine-7"]
    assert complete("gtp", "--network", "./x") == [("./x", "file")]


def test_rules_and_profiles() -> None:
    assert values("play", "--rules", "ja") == ["japanese"]
    assert values("review", "--rules", "jap") == values("selfplay", "--rules", "jap") == ["japanese"]
    assert values("gtp", "--profile", "rank_9") == ["rank_9k", "rank_9d"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_for_shells(shell: str) -> None:
    found = get_completion_class(shell)
    assert found is not None
    assert "_GTP_ENGINE_COMPLETE" in found(main, {}, "gtp_engine", "_GTP_ENGINE_COMPLETE").source()


def test_saved_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_GAMES", str(tmp_path))
    for name in ("2026-01-01-9x9.sgf", "2026-02-02-9x9.sgf", "notes.txt"):
        (tmp_path / name).touch()
    assert values("play", "2026") == ["2026-02-02-9x9.sgf", "2026-01-01-9x9.sgf"]
    assert complete("play", "x") == [("x", "file")]

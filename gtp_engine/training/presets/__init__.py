"""Settings for `train --preset`: TOML files with comments."""

from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def preset_file(name: str) -> Path:
    """The file of a preset; ValueError for an unknown one."""
    if name not in NAMES:
        raise ValueError(f"unknown preset {name!r}: expected {', '.join(NAMES)}")
    return FOLDER / f"{name}.toml"

"""The processors that wheels bring code for."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.base import jit, target
from gtp_engine.base.jit import CodeFolder
from gtp_engine.base.target import WHEEL_TARGETS

AMX, V4, V3 = (dict.fromkeys(known.needs, True) for known in WHEEL_TARGETS)


def as_list(features: dict[str, bool]) -> str:
    """Features as LLVM lists them."""
    return ",".join(("+" if present else "-") + name for name, present in features.items())


def tell_numba(name: str | None, features: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target.config, "CPU_NAME", name)
    monkeypatch.setattr(target.config, "CPU_FEATURES", features)


def test_a_processor_gets_code_that_it_executes_fast() -> None:
    _, avx512, avx2 = WHEEL_TARGETS
    assert avx512.suits(V4) and not avx512.suits(V3) and not avx512.suits(V4 | {"avx512bf16": False})
    assert avx2.suits(V3) and not avx2.suits({}) and not avx2.suits(V3 | {"fma": False})
    # With AVX-512 alone code for AVX2 would be slow: it is compiled there.
    assert not avx2.suits(V3 | {"avx512f": True}) and not avx2.suits(V4)


@pytest.mark.parametrize(("features", "number"), [(AMX, 0), (V4, 1), (AMX | {"amx-bf16": False}, 1), (V3, 2)])
def test_a_processor_gets_the_first_code_that_suits_it(
    features: dict[str, bool], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "_host_features", Mock(return_value=as_list(features)))
    tell_numba(None, None, monkeypatch)
    assert target.wheel_targets()[0] == WHEEL_TARGETS[number]


def test_numbas_settings_choose_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in WHEEL_TARGETS:
        tell_numba(known.name, known.features, monkeypatch)
        assert target.target() == known
        assert not target.wheel_targets()  # who sets them wants code for that
    monkeypatch.setattr(target.config, "CPU_NAME", "x86-64")
    assert target.target().name == "x86-64"


def test_only_what_numba_uses_of_a_processor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends the process if it is to use an instruction that the target lacks."""
    monkeypatch.setattr(target.binding, "get_process_triple", Mock(return_value="x86_64-unknown-linux-gnu"))
    tell_numba("generic", "", monkeypatch)  # as numba sets the features for that name
    assert target.target().needs == frozenset()
    monkeypatch.setattr(target.config, "CPU_FEATURES", "+avx2,-fma,+f16c")
    assert target.target().needs == {"avx2", "f16c"}
    tell_numba(None, None, monkeypatch)
    monkeypatch.setattr(target.config, "ENABLE_AVX", 0)
    assert not any(feature.startswith("avx") for feature in target.target().needs)
    assert not target.wheel_targets()


# By triple, name and list, as LLVM finds them on a machine: what its list does not say follows from the name.
ARM = [
    ("arm64-apple-darwin24.0.0", "apple-m1", "", set()),
    ("arm64-apple-darwin24.0.0", "apple-m2", "", {"bf16", "i8mm"}),
    ("arm64-apple-darwin24.0.0", "apple-m4", "", {"bf16", "i8mm"}),
    ("aarch64-unknown-linux-gnu", "generic", "-aes,-sha2", set()),
    ("aarch64-unknown-linux-gnu", "cortex-a72", "+neon,+crc", {"crc"}),
    ("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon,+lse", {"lse"}),
    ("aarch64-unknown-linux-gnu", "neoverse-v1", "+neon,+sve", {"bf16", "i8mm", "sve"}),
    ("aarch64-unknown-linux-gnu", "neoverse-v2", "+neon,+sve,+sve2", {"bf16", "i8mm", "sve", "sve2"}),
    ("aarch64-unknown-linux-gnu", "neoverse-v1", "-bf16", {"i8mm"}),
    ("aarch64-pc-windows-msvc", "oryon-1", "+neon,+crc", {"bf16", "crc", "i8mm"}),
]


@pytest.mark.parametrize(("triple", "name", "features", "expected"), ARM)
def test_the_name_of_an_arm_processor_tells_what_it_has(
    triple: str, name: str, features: str, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target.binding, "get_process_triple", Mock(return_value=triple))
    monkeypatch.setattr(target.binding, "get_host_cpu_name", Mock(return_value=name))
    monkeypatch.setattr(target, "_host_features", Mock(return_value=features))
    tell_numba(None, None, monkeypatch)
    assert target.target() == target.Target(name, features, frozenset({"neon", *expected}))
    assert not target.wheel_targets()


def test_each_target_has_a_folder_of_its_own() -> None:
    assert len({jit._fingerprint(processor) for processor in (*WHEEL_TARGETS, target.target())}) == 4


def test_code_of_the_wheel_is_used_if_it_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.target, "_host_features", Mock(return_value=as_list(V3)))
    tell_numba(None, None, monkeypatch)
    folder = jit._PACKAGE / jit.COMPILED
    monkeypatch.setattr(jit, "COMPILED", str(tmp_path))  # an absolute path: the package's folder is left alone
    assert folder.name == "compiled" and jit._find_wheel_code() is None
    (tmp_path / jit._fingerprint(WHEEL_TARGETS[0])).mkdir()
    assert jit._find_wheel_code() is None  # for another processor
    code = CodeFolder(tmp_path / jit._fingerprint(WHEEL_TARGETS[2]))
    code.write("one", b"1")
    assert jit._find_wheel_code() is None  # not complete
    code.mark_complete()
    found = jit._find_wheel_code()
    assert found is not None and found.read("one") == b"1"


def test_code_for_less_than_the_processor_has_is_used_if_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit.target, "_host_features", Mock(return_value=as_list(AMX)))
    tell_numba(None, None, monkeypatch)
    monkeypatch.setattr(jit, "COMPILED", str(tmp_path))
    for number in (1, 0):  # built on a machine without AMX, and on one that has it
        code = CodeFolder(tmp_path / jit._fingerprint(WHEEL_TARGETS[number]))
        code.write("one", b"1")
        code.mark_complete()
        found = jit._find_wheel_code()
        assert found is not None and found.path == code.path


def test_damaged_code_of_the_wheel_is_left_out_and_left_there(tmp_path: Path) -> None:
    CodeFolder(tmp_path).write("one", b"1")
    file = tmp_path / "one.code"
    file.write_bytes(file.read_bytes()[:-1] + b"2")
    assert CodeFolder(tmp_path, is_kept=True).read("one") is None and file.exists()
    assert CodeFolder(tmp_path).read("one") is None and not file.exists()

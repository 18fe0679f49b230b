"""The processor that code is compiled for: this one, or one of those that wheels bring code for (`make wheel`).

numba compiles for another one if `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES` say so.
"""

from dataclasses import dataclass

from numba import config

from .numba_internals import binding

_V3 = (
    *("cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"),
    *("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
)
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_PRODUCTS, _AMX = ("avx512bf16", "avx512vnni"), ("amx-tile", "amx-bf16", "amx-int8")


@dataclass(frozen=True)
class Target:
    """A processor that code is compiled for."""

    name: str  # LLVM's name
    features: str  # what differs from that, as LLVM's list
    needs: frozenset[str]  # the features, by LLVM's names, that a processor needs to execute the code
    lacks: str = ""  # a feature that the code does not use: processors that have it get code of their own

    def suits(self, features: dict[str, bool]) -> bool:
        """Returns whether code for this target is right and fast on a processor with these features."""
        return all(features.get(name) for name in self.needs) and not features.get(self.lacks)


# The levels of the x86-64 ABI; LLVM makes vectors of 256 bits of ours for the fourth one unless it is told not to. The
# first target that suits a processor is taken. A process that may not use AMX runs code for vectors of that target.
WHEEL_TARGETS = (
    Target(
        "x86-64-v4",
        "+avx512bf16,+avx512vnni,+amx-tile,+amx-bf16,+amx-int8,-prefer-256-bit",
        frozenset((*_V4, *_PRODUCTS, *_AMX)),
    ),
    Target("x86-64-v4", "+avx512bf16,+avx512vnni,-prefer-256-bit", frozenset((*_V4, *_PRODUCTS))),
    Target("x86-64-v3", "", frozenset(_V3), lacks="avx512f"),
)


def target() -> Target:
    """Returns the processor that numba compiles for."""
    name, features = config.CPU_NAME, config.CPU_FEATURES  # type: ignore[attr-defined]
    for known in WHEEL_TARGETS:
        if (known.name, known.features) == (name, features):
            return known
    listed = _host_features() if features is None else features
    name = name or binding.get_host_cpu_name()
    has = frozenset(feature for feature, present in _parse(listed).items() if present)
    if binding.get_process_triple().startswith(("aarch64", "arm64")):
        has |= _arm_features(name, listed)
    return Target(name, listed, has)


def wheel_targets() -> list[Target]:
    """Returns the targets of wheels whose code suits this processor, the best first; none if numba has another."""
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:  # type: ignore[attr-defined]
        return []
    features = _parse(_host_features())
    return [target for target in WHEEL_TARGETS if target.suits(features)]


def _host_features() -> str:
    """Returns the features of this processor that numba uses, as LLVM's list: `NUMBA_ENABLE_AVX=0` takes some away."""
    features = binding.get_host_cpu_features()
    without_avx = {name: False for name in features if name.startswith("avx") and not config.ENABLE_AVX}  # type: ignore[attr-defined]
    features.update(without_avx)
    return str(features.flatten())


def _parse(features: str) -> dict[str, bool]:
    """Returns the features of one of LLVM's lists, such as "+avx,-avx2", and whether the processor has them."""
    return {feature[1:]: feature[0] == "+" for feature in features.split(",") if feature}


# Functions that LLVM compiles to one instruction if an ARM64 processor has a feature, and otherwise to several others.
_ARM_INSTRUCTIONS = {"bf16": "bfcvtn", "i8mm": "usdot"}
_ARM_FUNCTIONS = """
define <4 x bfloat> @bf16(<4 x float> %x) {
  %y = fptrunc <4 x float> %x to <4 x bfloat>
  ret <4 x bfloat> %y
}

declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)

define i32 @i8mm(<16 x i8> %x, <16 x i8> %y) {
  %a = zext <16 x i8> %x to <16 x i32>
  %b = sext <16 x i8> %y to <16 x i32>
  %products = mul <16 x i32> %a, %b
  %sum = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %products)
  ret i32 %sum
}
"""


def _arm_features(name: str, features: str) -> frozenset[str]:
    """Returns what the kernels can use of an ARM64 processor, by LLVM's name of it and list of differences.

    LLVM lists few features on Linux and Windows and none on macOS. Its names of processors imply the others, without a
    function that tells them. Hence LLVM compiles some code: what it uses there it can use in kernels too, where it ends
    the process if it is to use what the processor lacks.
    """
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    # The system makes no difference to the instructions.
    target_of_llvm = binding.Target.from_triple("aarch64-unknown-linux-gnu")
    machine = target_of_llvm.create_target_machine(cpu=name, features=features, opt=2)
    assembly = machine.emit_assembly(binding.parse_assembly(_ARM_FUNCTIONS))
    found = (feature for feature, instruction in _ARM_INSTRUCTIONS.items() if f"\t{instruction}\t" in assembly)
    return frozenset(("neon", *found))  # Linux, macOS and Windows run on no ARM64 processor without NEON

"""Small random networks of every version, with every kind of block, layer and head."""

import random
from dataclasses import replace

import torch

from gtp_engine.nets.config import Multipliers, NetworkConfig, parse_config
from gtp_engine.nets.constants import MISH, RELU, SILU
from gtp_engine.nets.layers import BatchNorm, Bias
from gtp_engine.nets.model import Model
from gtp_engine.nets.schema import (
    RMS_NORM,
    ActivationDesc,
    AttentionBlockDesc,
    BatchNormDesc,
    BiasDesc,
    BlockDesc,
    BottleneckBlockDesc,
    ConvDesc,
    FeedForwardBlockDesc,
    FixedRopeDesc,
    LearnedRopeDesc,
    MatMulDesc,
    MetadataEncoderDesc,
    MoveHeadDesc,
    RMSNormDesc,
    TipRMSNormDesc,
)

CHANNELS = 16
FIRST_TRANSFORMERS, FIRST_ACTIVATIONS = 15, 11


def random_model(version: int, seed: int) -> Model:
    """In evaluation mode, with numbers that all matter."""
    generator = torch.Generator().manual_seed(seed)
    model = Model(random_config(version, random.Random(seed))).initialise(generator)
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, BatchNorm):
                part.running_mean.normal_(0, 0.3, generator=generator)
                part.running_var.uniform_(0.5, 2, generator=generator)
            if isinstance(part, Bias):
                part.bias.normal_(0, 0.5, generator=generator)
            if part is model.policy.out_conv or part is model.policy.pass_matmul:
                part.weight.normal_(0, 0.2, generator=generator)
    return model.eval()


def with_auxiliary_heads(config: NetworkConfig) -> NetworkConfig:
    """The architecture with a head of each kind that only helps to learn: for positions, points and moves."""
    hidden, points = config.value.matmul.out_channels, config.value.conv.out_channels
    heads = MatMulDesc("of_position", hidden, 2), ConvDesc("of_point", 3, 3, points, 1)
    policy = config.policy
    layers = ConvDesc("points", 1, 1, points, 1), MatMulDesc("pass", policy.pass_matmul.in_channels, 1)
    of_moves = MoveHeadDesc("of_moves", *layers)
    return replace(
        config,
        policy=replace(policy, auxiliary=(of_moves,)),
        value=replace(config.value, auxiliary=heads),
    )


def random_config(version: int, choice: random.Random) -> NetworkConfig:
    activation = choice.choice((RELU, MISH, SILU)) if version >= FIRST_ACTIVATIONS else RELU
    suffix = {RELU: "", MISH: "-mish", SILU: "-silu"}[activation]
    base = parse_config(f"b3c{CHANNELS}{choice.choice(('', 'nbt'))}{suffix}")
    blocks: list[BlockDesc] = list(base.trunk.blocks)
    if version >= FIRST_TRANSFORMERS:
        blocks += _transformer(choice, CHANNELS, "attention")
        blocks.append(_deep_bottleneck(choice, activation))
    choice.shuffle(blocks)
    rms_tip = version >= 15 and choice.random() < 0.5
    metadata = version >= 15 and choice.random() < 0.5
    trunk = replace(
        base.trunk,
        block_count=len(blocks),
        blocks=tuple(blocks),
        conv=replace(base.trunk.conv, height=5, width=5),
        tip_norm_kind=RMS_NORM if rms_tip else 0,
        tip_norm=TipRMSNormDesc("tip", CHANNELS, 1e-6, choice.random() < 0.5) if rms_tip else _norm(choice),
        metadata=_metadata_encoder(activation) if metadata else None,
    )
    config = replace(
        base,
        version=version,
        multipliers=Multipliers(score_error=150.0) if version >= 13 else Multipliers(),
        trunk=trunk,
        metadata_version=int(metadata),
        suicide_areas=version >= 15 and choice.random() < 0.5,
    )
    return _with_heads(config, activation)


def _with_heads(config: NetworkConfig, activation: str) -> NetworkConfig:
    """As many outputs as the version has."""
    version, policy, value = config.version, config.policy, config.value
    channels = 1 if version < 12 else 4 if version == 16 else 2
    policy = replace(
        policy,
        out_conv=replace(policy.out_conv, out_channels=channels),
        pass_matmul=replace(policy.pass_matmul, out_channels=channels),
        declared_channels=channels if version >= 17 else 0,
    )
    if version >= 15:
        policy = replace(
            policy,
            pass_matmul=replace(policy.pass_matmul, out_channels=policy.conv.out_channels),
            pass_bias=BiasDesc("pass_bias", policy.conv.out_channels),
            pass_act=ActivationDesc("pass_act", activation),
            pass_out=MatMulDesc("pass_out", policy.conv.out_channels, channels),
        )
    if version == 8:
        matmul = replace(value.score_matmul, out_channels=4)
        value = replace(value, score_matmul=matmul, score_bias=BiasDesc("score_bias", 4))
    return replace(config, policy=policy, value=value)


def _norm(choice: random.Random) -> BatchNormDesc:
    return BatchNormDesc("norm", CHANNELS, 1e-20, choice.random() < 0.5, choice.random() < 0.5)


def _transformer(choice: random.Random, channels: int, name: str) -> list[BlockDesc]:
    kv_heads, width, value_width = choice.choice((1, 2)), 8, choice.choice((4, 8))
    heads = kv_heads * choice.choice((1, 2))
    learned = choice.random() < 0.5
    fixed = FixedRopeDesc(f"{name}.theta", 100.0)
    gate = choice.random() < 0.5
    return [
        AttentionBlockDesc(
            name=name,
            heads=heads,
            kv_heads=kv_heads,
            query_channels=width,
            value_channels=value_width,
            use_rope=True,
            learnable_rope=learned,
            norm=RMSNormDesc(f"{name}.norm", channels, 1e-6),
            query=MatMulDesc(f"{name}.q", channels, heads * width),
            key=MatMulDesc(f"{name}.k", channels, kv_heads * width),
            value=MatMulDesc(f"{name}.v", channels, kv_heads * value_width),
            out=MatMulDesc(f"{name}.out", heads * value_width, channels),
            rope=LearnedRopeDesc(f"{name}.rope", kv_heads, width // 2) if learned else fixed,
        ),
        FeedForwardBlockDesc(
            name=f"{name}.ffn",
            channels=channels,
            hidden=24,
            use_gate=gate,
            norm=RMSNormDesc(f"{name}.ffn.norm", channels, 1e-6),
            first=MatMulDesc(f"{name}.ffn.1", channels, 24),
            gate=MatMulDesc(f"{name}.ffn.gate", channels, 24) if gate else None,
            second=MatMulDesc(f"{name}.ffn.2", 24, channels),
        ),
    ]


def _deep_bottleneck(choice: random.Random, activation: str) -> BlockDesc:
    """A bottleneck with attention inside, as in KataGo's hybrids."""
    block = parse_config(f"b1c{CHANNELS}nbt").trunk.blocks[0]
    assert isinstance(block, BottleneckBlockDesc)
    inner = _transformer(choice, CHANNELS // 2, "inner")
    return replace(block, block_count=len(inner), blocks=tuple(inner), pre_act=ActivationDesc("act", activation))


def _metadata_encoder(activation: str) -> MetadataEncoderDesc:
    return MetadataEncoderDesc(
        "metadata",
        192,
        MatMulDesc("m1", 192, 10),
        BiasDesc("b1", 10),
        ActivationDesc("a1", activation),
        MatMulDesc("m2", 10, 12),
        BiasDesc("b2", 12),
        ActivationDesc("a2", activation),
        MatMulDesc("m3", 12, CHANNELS),
    )

"""Prepares networks for evaluation: the same outputs in less time."""

import copy
from itertools import pairwise

import torch
from torch import nn

from ..base.jit import config
from ..network.blocks import AttentionBlock, FeedForwardBlock, OrdinaryBlock, PolicyHead, PoolingBlock, Trunk, ValueHead
from ..network.layers import Activation, Affine, BatchNorm, Conv, Folded, MatMul, Norm, RMSNorm
from ..network.model import Model
from ..network.schema import IDENTITY, RELU


@torch.no_grad()
def prepare_for_inference(model: Model, dtype: torch.dtype = torch.float32) -> Model:
    """Returns a copy for evaluation only, on the same device, with the same float32 inputs and outputs.

    Batch norms are folded into the convolutions that they follow, tensors of points become channels-last, and on a CPU
    blocks and heads are compiled.

    Args:
        model: The network; it is not changed.
        dtype: The precision of the trunk's tensors and weights. The heads, a few percent of the work, stay in float32.
            In a compiled trunk only the factors of products have this precision: tensors between products, the first
            convolution, the scores of attention and blocks that are not compiled are float32.
    """
    model = copy.deepcopy(model).eval()
    for part in model.modules():
        _fold_norms(part)
    _replace_norms(model)
    on_cpu = model.trunk.conv.weight.device.type == "cpu" and not config.DISABLE_JIT
    if on_cpu:
        _fuse_activations(model)
    compiled = on_cpu and _compile(model, dtype)
    # After compilation: what torch still computes is faster with channels last.
    for part in model.modules():
        if isinstance(part, Conv):
            part.weight.data = part.weight.data.contiguous(memory_format=torch.channels_last)
    if not compiled:
        _convert(model.trunk, dtype)
    return model.requires_grad_(False)


def _compile(model: Model, dtype: torch.dtype) -> bool:
    """Compiles heads and trunk as far as the CPU allows; returns whether the trunk is compiled."""
    # Imported here because networks on other devices, or without the JIT, do not need it.
    from .blocks import can_compile_trunk, compile_heads, compile_trunk

    compile_heads(model)
    if not can_compile_trunk(dtype):
        return False
    compile_trunk(model.trunk, dtype)
    return True


def _fold_norms(part: nn.Module) -> None:
    """Folds the norms of a block or head that follow a convolution of its own.

    A block's first norm does not: it normalises the sum of all blocks before.
    """
    if isinstance(part, OrdinaryBlock):
        pool_matmul = part.pool_matmul if isinstance(part, PoolingBlock) else None
        part.mid_norm = _fold(part.mid_norm, part.conv1, pool_matmul)
    if isinstance(part, PoolingBlock | PolicyHead):
        part.pool_norm = _fold(part.pool_norm, part.pool_conv)
    if isinstance(part, PolicyHead):
        part.norm = _fold(part.norm, part.conv, part.pool_matmul)
    if isinstance(part, ValueHead):
        part.norm = _fold(part.norm, part.conv)


def _fold(norm: Norm, conv: Conv, matmul: MatMul | None = None) -> Folded:
    """Moves a norm into the convolution before it, and into the matrix whose product is added to the convolution."""
    assert isinstance(norm, BatchNorm)
    # norm(conv(x) + matmul(z)) = conv(x) * scale + matmul(z) * scale + shift, for each output channel.
    scale, shift = norm.scale_and_shift()
    conv.weight.mul_(scale.view(-1, 1, 1, 1))
    conv.bias = nn.Parameter(shift.clone())
    if matmul is not None:
        matmul.weight.mul_(scale.view(-1, 1))
    return Folded(len(scale))


def _replace_norms(model: Model) -> None:
    """Replaces the batch norms that are left by their scale and shift."""
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, BatchNorm):
                setattr(part, name, Affine(child))


def _fuse_activations(model: Model) -> None:
    """Makes one pass of each activation and the norm before it."""
    for part in list(model.modules()):
        # Children are in the order of the file's fields (`network.schema`), where an activation's norm precedes it.
        for (norm_name, norm), (name, activation) in pairwise(list(part.named_children())):
            if isinstance(activation, Activation):
                _fuse(part, norm_name, norm, name, activation)


def _fuse(part: nn.Module, norm_name: str, norm: nn.Module, name: str, activation: Activation) -> None:
    """Replaces an activation and what precedes it, if that is a norm and if one pass is faster."""
    from .activations import FusedActivation

    if isinstance(norm, Affine) and activation.kind != IDENTITY:
        setattr(part, name, FusedActivation(activation.kind, norm.scale.flatten(), norm.shift.flatten()))
        setattr(part, norm_name, Folded(norm.scale.numel()))
    # Without a norm to fuse, only the exponentials of mish and silu are worth a pass of ours; relu is left to torch.
    elif isinstance(norm, Folded) and activation.kind not in (IDENTITY, RELU):
        setattr(part, name, FusedActivation(activation.kind, torch.ones(norm.channels), torch.zeros(norm.channels)))


def _precision_between_blocks(trunk: Trunk, dtype: torch.dtype) -> torch.dtype:
    """Returns the precision of the tensors between the blocks of a trunk that is not compiled."""
    attends = any(isinstance(block, AttentionBlock) for block in trunk.blocks)
    return torch.float32 if attends and dtype == torch.bfloat16 else dtype


def _convert(trunk: Trunk, dtype: torch.dtype) -> None:
    """Converts a trunk that is not compiled, except for tables of angles and what the scalar inputs pass through."""
    # With attention only feed-forward blocks are converted: rounding the scores would change the result too much.
    if _precision_between_blocks(trunk, dtype) != dtype:
        for block in trunk.blocks:
            if isinstance(block, FeedForwardBlock):
                for matrix in (block.first, block.gate, block.second):
                    if matrix is not None:
                        matrix.to(dtype)
        return
    exact = {trunk.matmul, *(trunk.metadata.modules() if trunk.metadata else ())}
    for part in trunk.modules():
        if isinstance(part, Conv | MatMul | RMSNorm | Affine) and part not in exact:
            part.to(dtype)

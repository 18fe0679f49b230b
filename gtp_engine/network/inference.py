"""Networks made ready to evaluate positions: the same answers in less time."""

import copy

import torch
from torch import nn

from ..compiled import config
from .blocks import AttentionBlock, FeedForwardBlock, OrdinaryBlock, PolicyHead, PoolingBlock, Trunk, ValueHead
from .layers import Activation, Affine, BatchNorm, Conv, Folded, MatMul, Norm, RMSNorm
from .model import Model
from .records import IDENTITY, RELU


@torch.no_grad()
def prepare_for_inference(model: Model, dtype: torch.dtype = torch.float32) -> Model:
    """A copy for evaluation only, on the same device, that takes and gives float32 as the model does.

    Batch norms are folded into convolutions where they follow one, tensors of points are channels-last, and on a CPU
    blocks and heads are compiled. dtype: of the trunk's tensors and weights; the heads, a few percent of the work, stay
    in float32. Compiled, the trunk has float32 between its products, whose factors alone are of that precision; the
    first convolution, the scores of attention and blocks that are not compiled are of float32 then.
    """
    model = copy.deepcopy(model).eval()
    for part in model.modules():
        _fold_norms(part)
    fuses = model.trunk.conv.weight.device.type == "cpu" and not config.DISABLE_JIT
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, BatchNorm):
                setattr(part, name, Affine(child))
            if fuses and isinstance(child, Activation):
                _fuse(part, name, child)
    compiled = fuses and _compile(model, dtype)
    for part in model.modules():
        if isinstance(part, Conv):
            part.weight.data = part.weight.data.contiguous(memory_format=torch.channels_last)
    if not compiled:
        _convert(model.trunk, dtype)
    return model.requires_grad_(False)


def _compile(model: Model, dtype: torch.dtype) -> bool:
    """Compiles heads and trunk as far as the processor goes; returns whether the trunk is."""
    from .compiled_blocks import compile_heads, compile_trunk, compiles_trunk

    compile_heads(model)
    if not compiles_trunk(dtype):
        return False
    compile_trunk(model.trunk, dtype)
    return True


def _fold_norms(part: nn.Module) -> None:
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
    """Moves a norm into the convolution (and the matrix, whose product is added) that it follows."""
    assert isinstance(norm, BatchNorm)
    scale, shift = norm.scale_and_shift()
    conv.weight.mul_(scale.view(-1, 1, 1, 1))
    conv.bias = nn.Parameter(shift.clone())
    if matmul is not None:
        matmul.weight.mul_(scale.view(-1, 1))
    return Folded(len(scale))


def _fuse(part: nn.Module, name: str, activation: Activation) -> None:
    """Makes one pass of an activation and the norm before it, where that is faster."""
    from .fused import FusedActivation

    norm_name = name.replace("act", "norm")
    norm = getattr(part, norm_name, None)
    if isinstance(norm, Affine) and activation.kind != IDENTITY:
        setattr(part, name, FusedActivation(activation.kind, norm.scale.flatten(), norm.shift.flatten()))
        setattr(part, norm_name, Folded(norm.scale.numel()))
    elif isinstance(norm, Folded) and activation.kind not in (IDENTITY, RELU):
        setattr(part, name, FusedActivation(activation.kind, torch.ones(norm.channels), torch.zeros(norm.channels)))


def _between_blocks(trunk: Trunk, dtype: torch.dtype) -> torch.dtype:
    """The precision of the numbers that go from one block of the trunk to the next."""
    attends = any(isinstance(block, AttentionBlock) for block in trunk.blocks)
    return torch.float32 if attends and dtype == torch.bfloat16 else dtype


def _convert(trunk: Trunk, dtype: torch.dtype) -> None:
    """All but what komi and other scalars go through, and tables of angles."""
    if _between_blocks(trunk, dtype) != dtype:
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

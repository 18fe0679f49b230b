"""Networks made ready to evaluate positions: the same answers in less time."""

import copy

import torch
from torch import nn

from .blocks import OrdinaryBlock, PolicyHead, PoolingBlock, ValueHead
from .layers import Affine, BatchNorm, Conv, Folded, MatMul, Norm
from .model import Model


@torch.no_grad()
def prepare_for_inference(model: Model) -> Model:
    """A copy for evaluation only, on the same device: batch norms folded into convolutions, channels-last."""
    model = copy.deepcopy(model).eval()
    for part in model.modules():
        if isinstance(part, OrdinaryBlock):
            pool_matmul = part.pool_matmul if isinstance(part, PoolingBlock) else None
            part.mid_norm = _fold(part.mid_norm, part.conv1, pool_matmul)
        if isinstance(part, PoolingBlock | PolicyHead):
            part.pool_norm = _fold(part.pool_norm, part.pool_conv)
        if isinstance(part, PolicyHead):
            part.norm = _fold(part.norm, part.conv, part.pool_matmul)
        if isinstance(part, ValueHead):
            part.norm = _fold(part.norm, part.conv)
    for part in list(model.modules()):
        for name, child in part.named_children():
            if isinstance(child, BatchNorm):
                setattr(part, name, Affine(child))
    for part in model.modules():
        if isinstance(part, Conv):
            part.weight.data = part.weight.data.contiguous(memory_format=torch.channels_last)
    return model.requires_grad_(False)


def _fold(norm: Norm, conv: Conv, matmul: MatMul | None = None) -> Folded:
    """Moves a norm into the convolution (and the matrix, whose product is added) that it follows."""
    assert isinstance(norm, BatchNorm)
    scale, shift = norm.scale_and_shift()
    conv.weight.mul_(scale.view(-1, 1, 1, 1))
    conv.bias = nn.Parameter(shift.clone())
    if matmul is not None:
        matmul.weight.mul_(scale.view(-1, 1))
    return Folded()

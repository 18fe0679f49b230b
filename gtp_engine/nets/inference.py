"""Prepares networks for evaluation by torch, on GPUs and on CPUs without kernels of ours: the same outputs, faster."""

import torch
from torch import nn

from .blocks import AttentionBlock, FeedForwardBlock, Trunk
from .folding import fold_norms
from .layers import Affine, BatchNorm, Conv, Folded, MatMul, RMSNorm
from .model import Model
from .stored import StoredNetwork


@torch.no_grad()
def prepare_for_inference(
    network: StoredNetwork, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> Model:
    """Returns a module for evaluation only, with float32 inputs and outputs.

    Batch norms are folded into the convolutions that they follow, and tensors of points become channels-last.

    Args:
        network: The network.
        dtype: The precision of the trunk's tensors and weights. The heads, a few percent of the work, stay in float32.
        device: The device of the module.
    """
    values = {name: torch.from_numpy(value) for name, value in fold_norms(network).items()}
    model = Model(network.config).eval()
    for path, part in list(model.named_modules()):
        if isinstance(part, BatchNorm):
            channels = len(part.running_mean)
            model.set_submodule(path, Affine(channels) if f"{path}.scale" in values else Folded())
        elif isinstance(part, Conv) and f"{path}.bias" in values:
            part.bias = nn.Parameter(torch.zeros(len(part.weight)))
    model.load_state_dict(values)
    for part in model.modules():
        if isinstance(part, Conv):
            part.weight.data = part.weight.data.contiguous(memory_format=torch.channels_last)
    _convert(model.trunk, dtype)
    return model.to(device).requires_grad_(False)


def _precision_between_blocks(trunk: Trunk, dtype: torch.dtype) -> torch.dtype:
    """Returns the precision of the tensors between the blocks."""
    attends = any(isinstance(block, AttentionBlock) for block in trunk.blocks)
    return torch.float32 if attends and dtype == torch.bfloat16 else dtype


def _convert(trunk: Trunk, dtype: torch.dtype) -> None:
    """Converts a trunk, except for tables of angles and what the scalar inputs pass through."""
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

"""Blocks of the trunk, the encoder of metadata and the two heads.

A module has one child for every description in its own description (`schema`), under the same name, so that a tensor's
path in the module is its layer's path in the config: `trunk.blocks.3.conv1.weight`.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from . import layers, schema
from .layers import Activation, BatchNorm, Bias, Board, Conv, MatMul, RMSNorm, TipRMSNorm, rotate_pairs


class Part(nn.Module):
    """A module whose children are built from the fields of its description, one of the classes of `schema`.

    They have the fields' names, and the modules that `MODULES` names for their classes; None stays None.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, desc: Any) -> None:
        super().__init__()
        self.desc = desc
        for entry in fields(desc):
            value = getattr(desc, entry.name)
            if isinstance(value, tuple):
                self.add_module(entry.name, nn.ModuleList(build(part) for part in value))
            elif type(value) in MODULES:
                self.add_module(entry.name, build(value))
            elif value is None:
                self.add_module(entry.name, None)


def build(desc: Any) -> nn.Module:
    """Returns the module of a description, with zeros and ones as its parameters."""
    return MODULES[type(desc)](desc)


class OrdinaryBlock(Part):
    """A pre-activation residual block (He et al. 2016) of two convolutions."""

    def forward(self, x: Tensor, board: Board) -> Tensor:
        y = self.conv1(board.cut(self.pre_act(self.pre_norm(x, board))))
        return x + self.conv2(board.cut(self.mid_act(self.mid_norm(y, board))))


class PoolingBlock(OrdinaryBlock):
    """A residual block with KataGo's global pooling bias (Wu 2019): what some channels see shifts the others."""

    def forward(self, x: Tensor, board: Board) -> Tensor:
        y = board.cut(self.pre_act(self.pre_norm(x, board)))
        pooled = board.pool(board.cut(self.pool_act(self.pool_norm(self.pool_conv(y), board))))
        y = self.conv1(y) + to_points(self.pool_matmul(pooled))
        return x + self.conv2(board.cut(self.mid_act(self.mid_norm(y, board))))


class BottleneckBlock(Part):
    """A residual block that contains other blocks, in fewer channels (KataGo's nested bottleneck)."""

    def forward(self, x: Tensor, board: Board) -> Tensor:
        y = self.pre_conv(board.cut(self.pre_act(self.pre_norm(x, board))))
        for block in self.blocks:
            y = block(y, board)
        return x + self.post_conv(board.cut(self.post_act(self.post_norm(y, board))))


class AttentionBlock(Part):
    """A residual block of self-attention over the board's points, with grouped heads (Ainslie et al. 2023)."""

    def __init__(self, desc: schema.AttentionBlockDesc) -> None:
        super().__init__(desc)
        self.rope = layers.Rope(desc.rope, desc.query_channels) if desc.rope else None

    def forward(self, x: Tensor, board: Board) -> Tensor:
        points = self.norm(to_sequence(board.cut(x)))
        query = self._heads(self.query(points), self.desc.heads)
        key = self._heads(self.key(points), self.desc.kv_heads)
        value = self._heads(self.value(points), self.desc.kv_heads)
        sharing = self.desc.heads // self.desc.kv_heads
        if self.rope is not None:
            cosine, sine = self.rope.cosine_and_sine(x.shape[2], x.shape[3])
            key = rotate_pairs(key, cosine, sine)
            if len(cosine) > 1:
                cosine, sine = cosine.repeat_interleave(sharing, 0), sine.repeat_interleave(sharing, 0)
            query = rotate_pairs(query, cosine, sine)
        if sharing > 1:
            key, value = key.repeat_interleave(sharing, 1), value.repeat_interleave(sharing, 1)
        if x.device.type == "cpu":  # torch's attention is slower there in bfloat16, and less exact
            query, key, value = query.float(), key.float(), value.float()
        on_board = None if board.mask is None else board.mask.flatten(2).unsqueeze(2) > 0
        reduced = x.device.type != "cpu" and torch.is_autocast_enabled(x.device.type)
        with torch.autocast(x.device.type, enabled=reduced):
            attended = functional.scaled_dot_product_attention(query, key, value, on_board)
        return x + board.cut(to_board(self.out(attended.transpose(1, 2).flatten(2)), x))

    @staticmethod
    def _heads(x: Tensor, heads: int) -> Tensor:
        """Returns [n, points, heads * channels] as [n, heads, points, channels]."""
        return x.unflatten(2, (heads, -1)).transpose(1, 2)


class FeedForwardBlock(Part):
    """A residual block of two linear layers at each point, gated or not (SwiGLU, Shazeer 2020)."""

    def forward(self, x: Tensor, board: Board) -> Tensor:
        points = self.norm(to_sequence(board.cut(x)))
        hidden = functional.silu(self.first(points))
        if self.gate is not None:
            hidden = hidden * self.gate(points)
        return x + board.cut(to_board(self.second(hidden), x))


class MetadataEncoder(Part):
    """Turns metadata of the players into something that is added to every point of the trunk."""

    def forward(self, metadata: Tensor) -> Tensor:
        hidden = self.act1(self.bias1(self.matmul1(metadata)))
        return self.matmul3(self.act2(self.bias2(self.matmul2(hidden))))


class Trunk(Part):
    """Everything before the heads."""

    def forward(self, planes: Tensor, scalars: Tensor, metadata: Tensor | None, board: Board) -> Tensor:
        global_features = self.matmul(scalars.to(self.matmul.weight.dtype))
        if self.metadata is not None and metadata is not None:
            global_features = global_features + self.metadata(metadata.to(global_features.dtype))
        x = self.conv(planes.to(self.conv.weight.dtype))
        if any(isinstance(block, AttentionBlock) for block in self.modules()):
            x = x.to(self.conv.weight.dtype)  # under autocast what blocks add is less exact, the sum is not
        x = x + to_points(global_features).to(x.dtype)
        for block in self.blocks:
            x = block(x, board)
        return board.cut(self.tip_act(self.tip_norm(x, board)))


class MoveHead(Part):
    """From the features of points and the pooled ones to logits of the moves."""

    def forward(self, points: Tensor, pooled: Tensor) -> Tensor:
        return torch.cat((self.out_conv(points).flatten(1), self.pass_matmul(pooled)), 1)


class PolicyHead(Part):
    """From the trunk to logits of the moves, and of the pass by global pooling."""

    def forward(self, x: Tensor, board: Board) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns logits, [n, channels, points + 1], the pass last, and by name those of auxiliary heads.

        The latter are [n, points + 1].
        """
        pooled = board.pool(board.cut(self.pool_act(self.pool_norm(self.pool_conv(x), board))))
        points = board.cut(self.act(self.norm(self.conv(x) + to_points(self.pool_matmul(pooled)), board)))
        passing = self.pass_matmul(pooled)
        if self.pass_out is not None:
            passing = self.pass_out(self.pass_act(self.pass_bias(passing)))
        auxiliary = {head.desc.name: head(points, pooled) for head in self.auxiliary}
        return torch.cat((self.out_conv(points).flatten(2), passing.unsqueeze(2)), 2), auxiliary


class ValueHead(Part):
    """From the trunk to result, scores and ownership."""

    def forward(self, x: Tensor, board: Board) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Returns value logits [n, 3], scores [n, 4 or 6], ownership before its tanh [n, points], and others by name.

        The latter are of auxiliary heads: [n, channels, points] of convolutions, else [n, channels].
        """
        points = board.cut(self.act(self.norm(self.conv(x), board)))
        hidden = self.hidden_act(self.bias(self.matmul(board.value_pool(points))))
        value = self.value_bias(self.value_matmul(hidden))
        scores = self.score_bias(self.score_matmul(hidden))
        auxiliary = {
            desc.name: head(points).flatten(2) if isinstance(head, Conv) else head(hidden)
            for desc, head in zip(self.desc.auxiliary, self.auxiliary, strict=True)
        }
        return value, scores, self.ownership(points).flatten(1), auxiliary


def to_points(x: Tensor) -> Tensor:
    """Returns [n, channels] in a form that adds to every point of [n, channels, h, w]."""
    return x[:, :, None, None]


def to_sequence(x: Tensor) -> Tensor:
    """Returns [n, channels, h, w] as [n, points, channels]."""
    return x.flatten(2).transpose(1, 2)


def to_board(x: Tensor, like: Tensor) -> Tensor:
    """The inverse of `to_sequence`."""
    return x.transpose(1, 2).unflatten(2, like.shape[2:])


_KINDS: tuple[Callable[[Any], nn.Module], ...] = (
    *(Conv, BatchNorm, Activation, MatMul, Bias, RMSNorm, TipRMSNorm),
    *(OrdinaryBlock, PoolingBlock, BottleneckBlock, AttentionBlock, FeedForwardBlock),
    *(MetadataEncoder, Trunk, MoveHead, PolicyHead, ValueHead),
)
MODULES = {getattr(schema, f"{kind.__name__}Desc"): kind for kind in _KINDS}
"""The module of each description: that of `schema.ConvDesc` is `Conv`."""

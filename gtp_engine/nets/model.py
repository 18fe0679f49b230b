"""A whole network as a torch module: fresh ones, what their outputs mean, and modules for evaluation only."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .blocks import AttentionBlock, BottleneckBlock, FeedForwardBlock, PolicyHead, Trunk, ValueHead
from .config import NetworkConfig
from .constants import SUPERKO, TERRITORY
from .layers import Affine, BatchNorm, Board, Conv, Folded, MatMul, RMSNorm, Rope
from .schema import METADATA
from .stored import RawOutputs, StoredNetwork, fold_norms


class ModelOutputs(NamedTuple):
    """What a model computes."""

    raw: RawOutputs[Tensor]  # what every network computes
    # The outputs of the heads that only help to learn, by name: of those of the policy [n, points + 1], of the others
    # [n, channels, points] or [n, channels].
    auxiliary: dict[str, Tensor]


class Model(nn.Module):
    """A network of KataGo's family.

    Fresh networks are made by `gtp_engine.new_model`, and those in files by `gtp_engine.load_model`. The name of every
    tensor is its path in the config, see `blocks`. A new model is in training mode, as all modules of torch are; one
    from a file is in evaluation mode.
    """

    __call__: Callable[..., ModelOutputs]  # `forward`, for type checkers

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.trunk = Trunk(config.trunk)
        self.policy = PolicyHead(config.policy)
        self.value = ValueHead(config.value)

    @classmethod
    def from_stored(cls, network: StoredNetwork) -> "Model":
        """Returns a model with the values of a stored network, on the CPU and in evaluation mode."""
        model = cls(network.config)
        model.load_state_dict({name: torch.from_numpy(value) for name, value in network.values.items()})
        return model.eval()

    def stored(self) -> StoredNetwork:
        """Returns a copy of this network as files and compiled kernels take it: without its auxiliary heads."""
        kept = {name: value for name, value in self.state_dict().items() if ".auxiliary." not in name}
        values = {name: tensor.float().cpu().numpy().copy() for name, tensor in kept.items()}
        return StoredNetwork(self.config.with_auxiliary_heads(()), values)

    def forward(
        self, planes: Tensor, scalars: Tensor, metadata: Tensor | None = None, *, full_board: bool = False
    ) -> ModelOutputs:
        """Evaluates positions.

        Args:
            planes: [n, 22, h, w]. Plane 0 is 1 on the board; boards smaller than h x w lie in the top left corner.
            scalars: [n, 19].
            metadata: [n, 192], for networks that imitate human players.
            full_board: Whether all boards fill the tensor, which saves the masks.

        Raises:
            ValueError: The network needs metadata, and there are none.
        """
        if metadata is None and self.trunk.metadata is not None:
            raise ValueError(f"the network {self.config.name} needs metadata of the players: {METADATA} numbers")
        tip = self.trunk(planes, scalars, metadata, Board(planes, full_board, self.trunk.conv.weight.dtype))
        tip = tip.to(self.policy.conv.weight.dtype)  # the heads' precision may differ from the trunk's
        board = Board(planes, full_board, tip.dtype)
        policy, of_policy = self.policy(tip, board)
        value, scores, ownership, of_value = self.value(tip, board)
        return ModelOutputs(RawOutputs(policy, value, scores, ownership), of_policy | of_value)

    def initialise(self, generator: torch.Generator | None = None) -> "Model":
        """Sets random weights to train from, in place, and returns the model.

        He initialisation (He et al. 2015), with the last layer of each of k residual branches scaled by 1/sqrt(k), so
        that the trunk's variance does not grow with its depth (De and Smith 2020). Outputs begin small. The auxiliary
        heads' weights are drawn last, so that all others are the same without them. An input that is 0 in all training
        keeps its first weights, so that of a playout doubling advantage gets none.
        """
        for _, module in sorted(self.named_modules(), key=lambda entry: ".auxiliary." in entry[0]):
            if isinstance(module, Conv | MatMul):
                fan_in = module.weight[0].numel()
                nn.init.normal_(module.weight, 0.0, math.sqrt(2 / fan_in), generator=generator)
            elif isinstance(module, Rope) and isinstance(module.frequencies, nn.Parameter):
                nn.init.uniform_(module.frequencies, -1.0, 1.0, generator=generator)
        _scale_branches(self.trunk.blocks)
        head = self.value
        policies: list[Conv | MatMul] = [self.policy.out_conv, self.policy.pass_out or self.policy.pass_matmul]
        with torch.no_grad():
            self.trunk.matmul.weight[:, DOUBLINGS] = 0
            of_moves = (layer for part in self.policy.auxiliary for layer in part.children())
            last = (head.value_matmul, head.score_matmul, head.ownership, *head.auxiliary, *of_moves)
            for layer in (*policies, *last):
                layer.weight.mul_(OUTPUT_SCALE)
            for layer in policies:
                layer.weight[1:] = layer.weight[:1]  # the untrained optimistic policy equals the policy
        return self


# The scalars of a playout doubling advantage, with which nothing is trained here.
DOUBLINGS = slice(15, 17)
# First predictions are near uniform, and first gradients small enough to begin with a full learning rate.
OUTPUT_SCALE = 0.3


def _scale_branches(blocks: nn.ModuleList) -> None:
    for block in blocks:
        if isinstance(block, BottleneckBlock):
            _scale_branches(block.blocks)
        *_, last = (layer for layer in block.children() if isinstance(layer, Conv | MatMul))
        with torch.no_grad():
            last.weight.mul_(1 / math.sqrt(len(blocks)))


_LEAST_LOGIT = -40.0  # of a squared error: that of 2e-9; the gradient of the root of softplus(-100) is NaN


def no_result_possible(scalars: Tensor) -> Tensor:
    """Returns bool [n]: under simple ko, because of triple kos, and under territory rules, as KataGo is trained."""
    return (scalars[:, SUPERKO] == 0) | (scalars[:, TERRITORY] != 0)


def short_term_errors(scores: Tensor, config: NetworkConfig) -> tuple[Tensor | None, Tensor | None]:
    """Returns the expected short-term errors of value and score, [n] each, or None before version 9."""
    if config.version < 9:
        return None, None
    raw = scores[:, 4:6]
    if config.version == 9:
        value, score = functional.softplus(raw).unbind(1)
        return value, 10 * score
    if config.version < 14:
        errors = functional.softplus(raw.clamp(min=_LEAST_LOGIT)).sqrt()
    else:
        errors = functional.softplus(raw / 2)  # the square and its root, as in KataGo, have no gradient after underflow
    value, score = errors.unbind(1)
    factors = config.multipliers.value_error, config.multipliers.score_error
    return value * math.sqrt(factors[0]), score * math.sqrt(factors[1])


@torch.no_grad()
def prepare_for_inference(
    network: StoredNetwork, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> Model:
    """Returns a module for evaluation only, with float32 inputs and outputs.

    Batch norms are folded into the convolutions that they follow, and tensors of points become channels-last. The
    trunk's tensors and weights have the precision `dtype`. The heads, a few percent of the work, stay in float32.
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


def _convert(trunk: Trunk, dtype: torch.dtype) -> None:
    """Converts a trunk, except for tables of angles and what the scalar inputs pass through."""
    # With attention only feed-forward blocks are converted: rounding the scores would change the result too much.
    if dtype == torch.bfloat16 and any(isinstance(block, AttentionBlock) for block in trunk.blocks):
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

"""What TensorBoard shows."""

from pathlib import Path


def curves(folder: Path) -> dict[str, list[tuple[int, float, float]]]:
    """Step, time and value of all points, by the curve's name."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder)).Reload()
    names = found.Tags()["scalars"]
    return {name: [(point.step, point.wall_time, point.value) for point in found.Scalars(name)] for name in names}

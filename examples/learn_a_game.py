"""Looks into a network and teaches it one game: inputs, raw outputs, samples, a step of training, a network file.

python examples/learn_a_game.py sgf/samples/GAME.sgf b6c64-19x19 learned.bin.gz
"""

import sys

import numpy as np

import gtp_engine


def main(record_file: str, network: str, new_file: str) -> None:
    record = gtp_engine.read_sgf(record_file)
    game = record.to_game()
    planes, scalars = gtp_engine.network_inputs([game])
    print(f"planes {planes.shape}; scalars {scalars.shape}, of them komi {20 * scalars[0, 5]:+g} for the player")
    for row in planes[0, 1] + 2 * planes[0, 2]:  # the stones of the player to move, and of the opponent
        print("".join(".XO"[stone] for stone in row))
    with gtp_engine.load_network(network, precision="float32") as player:
        raw = player.raw_outputs([game])
    win, loss, no_result = raw.value[0]
    print(f"logits: win {win:.2f}, loss {loss:.2f}, no result {no_result:.2f}; best move {np.argmax(raw.policy[0, 0])}")
    model = gtp_engine.load_model(network)
    samples = gtp_engine.Samples.from_records([record], suicide_areas=model.config.suicide_areas)
    batch = samples.batch(range(len(samples)))
    print(f"{batch.size} samples; policy targets {tuple(batch.policy.shape)}, values {tuple(batch.value.shape)}")
    learner = gtp_engine.Learner(model, gtp_engine.LearnSettings(learning_rate=1e-4, warm_up=0, precision="float32"))
    learner.step(batch)
    print("losses before the step:", {name: round(mean, 3) for name, mean in learner.take_losses().items()})
    gtp_engine.save_model(gtp_engine.playing_network(learner.averaged_network([batch])), new_file)


if __name__ == "__main__":
    main(*sys.argv[1:])

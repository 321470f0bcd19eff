"""What each moving figure has to compute, by course_lib: made-up states, the values they give."""

import math

import numpy as np

from course_lib import entropy, island, softmax


def softmax_temperature(rng, data):
    form = rng.choice(["stable", "stable", "float64", "float32"])
    state = {
        "temperature": float(np.exp(rng.uniform(np.log(0.01), np.log(50)))),
        "angle": float(rng.uniform(0, 360)),
        "shift": float(rng.choice([0, 1, 80, 100, 700, 1000])) * float(rng.choice([-1, 1])),
        "form": str(form),
    }
    scores = island.scores(state["angle"], 1 / state["temperature"]) + state["shift"]
    if form == "stable":
        weights = softmax(scores)
    else:
        with np.errstate(all="ignore"):
            raised = np.exp(scores.astype(str(form)))
            weights = raised / raised.sum()
    return state, {
        "scores": scores,
        "weights": weights,
        "answer": weights @ island.VALUES,
        "bits": entropy(weights) / math.log(2),
    }


EXPECTED = {"softmax_temperature": softmax_temperature}

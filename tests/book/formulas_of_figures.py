"""What each moving figure has to compute, by course_lib: a made-up state and its values."""

import math

import numpy as np

from course_lib import (
    attend,
    attention_vjp,
    crossover,
    entropy,
    gaussian_scores,
    island,
    layer_flops,
    nadaraya_watson,
    scaled_dot_product_attention,
    scaled_dot_scores,
    softmax,
    softmax_jacobian,
    softmax_vjp,
    split_heads,
    symmetric_and_skew,
)
from course_lib.sentence_encoder import SentenceEncoder

HIGHEST_SHARPNESS = 12.0


def dial_and_map(rng, data):
    state = {
        "angle": rng.uniform(0, 360),
        "sharpness": rng.uniform(0, HIGHEST_SHARPNESS),
        "who": str(rng.choice(island.NAMES)),
        "loudness": rng.uniform(0, 4),
    }
    louder = np.where(np.array(island.NAMES) == state["who"], state["loudness"], 1.0)
    Q = island.hand(state["angle"], state["sharpness"])[None]
    keys = louder[:, None] * island.KEYS
    answer, weights = attend(Q, keys, island.VALUES)
    return state, {
        "scores": scaled_dot_scores(Q, keys)[0],
        "weights": weights[0],
        "answer": answer[0],
        "fromAda": np.linalg.norm(answer[0] - island.VALUES[0]),
    }


def who_looks_at_whom(rng, data):
    state = {
        "turn": rng.uniform(0, 360),
        "sharpness": rng.uniform(0, HIGHEST_SHARPNESS),
        "tied": bool(rng.integers(2)),
    }
    turn, beta = state["turn"], state["sharpness"]
    Q = np.array([island.hand(radio.angle + turn, beta) for radio in island.RADIOS])
    keys = island.KEYS
    if state["tied"]:
        keys = np.array([island.on_the_dial(radio.angle + turn) for radio in island.RADIOS])
    scores = scaled_dot_scores(Q, keys)
    mutual, directed = symmetric_and_skew(scores)
    return state, {
        "scores": scores,
        "weights": softmax(scores),
        "mutual": np.linalg.norm(mutual),
        "directed": np.linalg.norm(directed),
    }


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


def names_of_any_length(rng, data):
    state = {"d": int(2 ** rng.integers(1, 13)), "friend": rng.uniform()}
    draw, rho = data["draws"][state["d"]], state["friend"]
    scores = np.array(draw["strangers"])
    scores[0] = rho * draw["self"] + math.sqrt(1 - rho**2) * scores[0]

    def heard(scores):
        weights = softmax(scores)
        return {
            "scores": scores,
            "weights": weights,
            "spread": scores[1:].std(),
            "bits": entropy(weights) / math.log(2),
            "jacobian": np.linalg.norm(softmax_jacobian(weights)),
        }

    return state, {"scaled": heard(scores), "unscaled": heard(scores * math.sqrt(state["d"]))}


def painted_mask(rng, data):
    tokens, others = np.array(data["tokens"]), np.array(data["others"])
    n = len(tokens)
    may_attend = rng.uniform(size=(n, n)) < rng.choice([0.2, 0.5, 0.8])
    layers = int(rng.integers(1, 5))

    def stack(X):
        for _ in range(layers):
            X = X + scaled_dot_product_attention(X, X, X, may_attend)
        return X

    changed = np.where(np.eye(n, dtype=bool)[:, :, None], others, tokens)
    output = stack(tokens)
    reads = (np.array([stack(X) for X in changed]) != output).any(axis=-1).T
    mask = "".join(str(int(may)) for may in may_attend.ravel())
    leaks = 1 + np.argwhere(np.triu(reads, 1)).reshape(-1, 2)
    state = {"mask": mask, "layers": layers}
    return state, {"output": output, "reads": reads, "leaks": leaks if len(leaks) else []}


def two_hands(rng, data):
    state = {
        "second": bool(rng.integers(2)),
        "sharpness": rng.uniform(0, 40),
        "angle": rng.uniform(0, 360),
        "other": rng.uniform(0, 360),
    }
    Q = np.array([island.hand(state[name], state["sharpness"]) for name in ("angle", "other")])
    answers, weights = attend(Q, island.KEYS, island.VALUES)
    apart = np.linalg.norm(answers[0] - answers[1])
    return state, {"weights": weights, "answers": answers, "apart": apart}


def cut_into_heads(rng, data):
    state = {
        "way": str(rng.choice(["reshaped", "exchanged", "alone"])),
        "heads": str(rng.choice([1, 2, 3, 6])),
        "story": int(rng.integers(2)),
        "token": int(rng.integers(5)),
    }
    story, token, feature = np.ogrid[:2, :5, :6]
    block = (100 * story + 10 * token + feature).astype(float)
    heads = int(state["heads"])
    if state["way"] == "reshaped":
        cut = split_heads(block, heads)
    else:
        stored = block.swapaxes(1, 2) if state["way"] == "exchanged" else block
        cut = stored.reshape(2, heads, 5, 6 // heads)
    tokens = cut[state["story"]] // 10 % 10
    return state, {
        "cut": cut,
        "holds": (tokens == state["token"]).any(axis=-1),
        "mixed": (tokens != tokens[..., :1]).any(axis=-1).sum(),
    }


def moving_crossover(rng, data):
    state = {
        "n": int(2 ** rng.uniform(4, 20)),
        "d": int(2 ** rng.integers(6, 15)),
        "matrices": str(rng.choice([0, 2, 3])),
        "wider": float(rng.integers(1, 17) / 2),
        "heads": int(2 ** rng.integers(0, 7)),
        "output": bool(rng.integers(2)),
        "causal": bool(rng.integers(2)),
    }
    d, d_ff, m = state["d"], int(state["wider"] * state["d"]), int(state["matrices"])
    layer = layer_flops(state["n"], d, state["heads"], d_ff, m, state["causal"], state["output"])
    operations = np.array([layer.attention, layer.projections, layer.ffn], dtype=float)
    return state, {
        "operations": operations,
        "perHead": layer.attention / state["heads"],
        "shares": operations / layer.total,
        "crossover": float(crossover(d, d_ff, m, state["causal"], state["output"])),
    }


def how_wide_to_listen(rng, data):
    added = rng.uniform((0, -2), (1, 2), size=(rng.integers(3), 2))
    state = {
        "bandwidth": float(np.exp(rng.uniform(np.log(0.003), 0))),
        "x": rng.uniform(),
        "y": 0,
        "added": added.tolist(),
    }
    width = state["bandwidth"]
    points, values = np.hsplit(np.vstack([data["points"], added]), 2)
    at = np.linspace(0, 1, 101)[:, None]
    line = nadaraya_watson(at, points, values, width)
    here = np.array([[state["x"]]])
    weights = softmax(gaussian_scores(here, points, width))[0]

    def score(Q, K):
        return gaussian_scores(Q, K, width)

    others = ~np.eye(len(points), dtype=bool)
    left_out, _ = attend(points, points, values, score, attn_mask=others)
    return state, {
        "weights": weights,
        "estimate": nadaraya_watson(here, points, values, width).item(),
        "line": line[:, 0],
        "heard": 1 / np.sum(weights**2),
        "fromTruth": np.sqrt(np.mean((line - np.sin(2 * np.pi * at)) ** 2)),
        "leftOut": np.sqrt(np.mean((left_out - values) ** 2)),
    }


def who_pulls(rng, data):
    state = {
        "target": str(rng.choice([*island.NAMES, "middle", "free"])),
        "step": 0.1,
        "east": rng.uniform(-1, 11),
        "north": rng.uniform(-1, 9),
        "angle": rng.uniform(0, 360),
        "sharpness": rng.uniform(0, HIGHEST_SHARPNESS),
        "trail": [],
    }
    goals = dict(zip(island.NAMES, island.VALUES, strict=True))
    goals |= {"middle": island.MAP_CENTRE, "free": (state["east"], state["north"])}
    goal = np.array(goals[state["target"]])
    Q = island.hand(state["angle"], state["sharpness"])[None]
    answer, weights = attend(Q, island.KEYS, island.VALUES)
    off = answer - goal
    return state, {
        "weights": weights[0],
        "answer": answer[0],
        "goal": goal,
        "loss": 0.5 * np.sum(off**2),
        "pulls": softmax_vjp(weights, off @ island.VALUES.T)[0],
        "gradient": attention_vjp(Q, island.KEYS, island.VALUES, off)[0][0],
    }


def sentence_heads(rng, data):
    number, head = rng.integers(len(data["sentences"])), rng.integers(8)
    run = SentenceEncoder.load().run(data["sentences"][number]["text"])
    word = int(rng.integers(1, 25))
    query = min(word, len(run.tokens)) - 1
    row = run.weights.reshape(8, len(run.tokens), -1)[head, query].astype(float).round(3)
    state = {"sentence": str(number), "head": str(head), "word": word}
    largest = np.argsort(-row, kind="stable")[:3]
    return state, {"query": query, "row": row, "largest": largest, "share": row.max()}


EXPECTED = {
    function.__name__: function
    for function in (
        dial_and_map,
        who_looks_at_whom,
        softmax_temperature,
        names_of_any_length,
        painted_mask,
        two_hands,
        cut_into_heads,
        moving_crossover,
        how_wide_to_listen,
        who_pulls,
        sentence_heads,
    )
}

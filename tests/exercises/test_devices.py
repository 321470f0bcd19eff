"""A GPU without a GPU: slips are found, right habits are not blamed, doubt is admitted."""

import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from course_lib.checking.devices import replay_on_meta

X = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
Q = np.random.default_rng(1).normal(size=(2, 3, 7)).astype(np.float32)
MASK = np.tril(np.ones((3, 5), dtype=bool))
FAILS = "on a GPU this would fail: "
UNKNOWN = "whether it runs on a GPU is not checkable here"


def written(x):
    out = torch.zeros(3, 5)
    out[0] = x[0]
    return out


def written_out_of_place(x):
    return torch.zeros(3, 5).index_put((torch.tensor([0]),), x[:1])


SLIPS = {
    "add": lambda x: x + torch.zeros(3, 5),
    "mul by a mask": lambda x: x * torch.ones(3, 5).tril(),
    "in place": lambda x: x.clone().add_(torch.ones(3, 5)),
    "matmul": lambda x: x @ torch.ones(5, 7),
    "linear": lambda x: F.linear(x, torch.ones(7, 5)),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, torch.ones(5, 7)),
    "bmm": lambda x: torch.bmm(x[None], torch.ones(1, 5, 7)),
    "cat": lambda x: torch.cat([x, torch.zeros(1, 5)]),
    "stack": lambda x: torch.stack([x[0], torch.zeros(5)]),
    "where, mask": lambda x: torch.where(torch.ones(3, 5).tril() > 0, x, -torch.inf),
    "where, other": lambda x: torch.where(x > 0, x, torch.full((3, 5), -torch.inf)),
    "masked_fill": lambda x: x.masked_fill(torch.ones(3, 5, dtype=torch.bool).tril(), -torch.inf),
    "softmax of a sum": lambda x: F.softmax(x + torch.zeros(5), -1),
    "layer_norm weight": lambda x: F.layer_norm(x, (5,), torch.ones(5)),
    "result made on the CPU": lambda x: torch.ones(3, 5),
    "one of the results": lambda x: (x, {"weights": torch.ones(3)}),
    "written into a CPU buffer": written,
    "index_put into a CPU buffer": written_out_of_place,
    "gather": lambda x: x.gather(1, torch.zeros(3, 1, dtype=torch.int64)),
    "handed to NumPy": lambda x: np.exp(x),
    "turned into NumPy": lambda x: torch.from_numpy(x.detach().numpy()),
    "a NumPy mask": lambda x: x * torch.from_numpy(np.tril(np.ones((3, 5)))),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_of_device_is_found(name):
    found = replay_on_meta(SLIPS[name], [((X,), {})], "float32")
    assert found is not None
    assert found.certain and found.words.startswith(FAILS)


@pytest.mark.parametrize(
    "attend",
    [
        lambda q: F.scaled_dot_product_attention(q, q, q, torch.ones(3, 3).tril() > 0),
        lambda q: F.scaled_dot_product_attention(q, q, q, torch.full((3, 3), -torch.inf).triu(1)),
        lambda q: q @ q.mT + torch.full((3, 3), -torch.inf).triu(1),
        lambda q: F.scaled_dot_product_attention(q, q, torch.ones(2, 3, 7)),
    ],
)
def test_a_mask_of_attention_made_on_the_cpu_is_found(attend):
    found = replay_on_meta(attend, [((Q,), {})], "float32")
    assert found is not None
    assert found.certain and found.words.startswith(FAILS)
    assert "cpu" in found.words.lower()


def assigned(x):
    x = x.clone()
    x[x > 0] = 0.0
    return x


def selection_assigned(x):
    x = x.clone()
    x[x > 0] = -x[x > 0]
    return x


def hidden_rows(x):
    x = x.clone()
    x[:, torch.tensor([0, 2])] = -torch.inf
    return x


HABITS = {
    "softmax": lambda x: F.softmax(x, -1),
    "a CPU number": lambda x: x / torch.sqrt(torch.tensor(5.0)),
    "a Python number": lambda x: x / 5**0.5,
    "arange there": lambda x: x + torch.arange(5, device=x.device),
    "a mask like x": lambda x: x.masked_fill(torch.ones_like(x).tril() > 0, -torch.inf),
    "moved over": lambda x: x + torch.ones(3, 5).to(x),
    "moved to the device": lambda x: x + torch.ones(3, 5).to(x.device),
    "new_ones": lambda x: x * x.new_ones(5),
    "rows stacked": lambda x: torch.stack([F.softmax(row, -1) for row in x]),
    "nan_to_num": lambda x: torch.nan_to_num(x),
    "an index made on the CPU": lambda x: x[torch.tensor([0, 2])],
    "copied over": lambda x: torch.empty_like(x).copy_(torch.ones(3, 5)),
    "rows hidden by index": hidden_rows,
    "assignment by mask": assigned,
    "vjp": lambda x: torch.autograd.functional.vjp(
        lambda a: F.softmax(a, -1), x, torch.ones_like(x)
    )[1],
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "printing": lambda x: (str(x), x)[1],
    "a number returned": lambda x: float(x.shape[-1]),
}


@pytest.mark.parametrize("name", HABITS)
def test_a_right_habit_is_not_blamed(name):
    assert replay_on_meta(HABITS[name], [((X,), {})], "float32") is None


DOUBTS = {
    "item": lambda x: x.max().item(),
    "float": lambda x: float(x[0, 0]),
    "tolist": lambda x: x.tolist(),
    "a branch": lambda x: x if x.max() > 0 else -x,
    "any": lambda x: x if (x > 0).any() else -x,
    "a selection": lambda x: x[x > 0],
    "a selection assigned": selection_assigned,
    "masked_select": lambda x: x.masked_select(x > 0),
    "nonzero": lambda x: x.nonzero(),
    "where without values": lambda x: torch.where(x > 0),
    "unique": lambda x: torch.unique(x),
    "allclose": lambda x: torch.allclose(x, x),
    "equal": lambda x: torch.equal(x, x),
    "bincount": lambda x: torch.bincount(x.long().flatten().abs()),
    "an unknown error": lambda x: x.no_such_method(),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_where_values_are_needed_nothing_is_claimed(name):
    found = replay_on_meta(DOUBTS[name], [((X,), {})], "float32")
    why = "" if name == "an unknown error" else ": it looks at values"
    assert (found.certain, found.words) == (False, UNKNOWN + why)


def test_every_call_is_replayed_with_masks_and_keywords():
    def attend(x, may_attend=None, rows=()):
        assert x.device.type == "meta"
        assert x.dtype == torch.float16
        assert may_attend is None or may_attend.dtype == torch.bool
        return x if may_attend is None else x + torch.zeros(3, 5)

    calls = [((X,), {}), ((X,), {"may_attend": MASK, "rows": [MASK]})]
    assert replay_on_meta(attend, calls[:1], "float16") is None
    assert replay_on_meta(attend, calls, "float16").certain


def test_a_slip_is_told_before_a_doubt():
    def two_faces(x, doubtful):
        return x.max().item() if doubtful else x + torch.zeros(3, 5)

    calls = [((X, True), {}), ((X, False), {})]
    assert replay_on_meta(two_faces, calls, "float32").certain


def test_watching_loads_no_compiler():
    """It took two seconds and 70 MB of a process that may have neither."""
    code = (
        "import sys, torch\nfrom course_lib.checking.devices import largest_tensor\n"
        "with largest_tensor() as largest:\n    torch.ones(3).exp()\n"
        "print(largest.nbytes, 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["12", "False"], done.stderr

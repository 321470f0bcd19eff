import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def number_by_number(f, vjp, x):
    """Every slope by itself, measured against the largest."""
    h, value = 1e-5, f(x)
    slopes, claims = [], []
    for a in range(len(value)):
        u = np.zeros(len(value))
        u[a] = 1.0
        claim = vjp(x.copy(), u)
        for i in range(len(x)):
            up, down = x.copy(), x.copy()
            up[i] += h
            down[i] -= h
            slopes.append((f(up)[a] - f(down)[a]) / (2 * h))
            claims.append(claim[i])
    largest = max(map(abs, slopes)) or 1e-3 * max(map(abs, value))
    return all(abs(s - c) < 1e-3 * largest for s, c in zip(slopes, claims, strict=True))


@only("numpy")
def random_pairs(f, vjp, x):
    """Many random pairs of a cotangent and a direction: both sides of one number each."""
    random, h = np.random.default_rng(0), 1e-5
    u, d = random.normal(size=(60, len(f(x)))), random.normal(size=(60, len(x)))
    claimed = np.array([vjp(x, a) @ b for a, b in zip(u, d, strict=True)])
    seen = np.array([a @ (f(x + h * b) - f(x - h * b)) for a, b in zip(u, d, strict=True)]) / 2 / h
    return bool(
        np.abs(claimed - seen).max() <= 2e-3 * np.abs(seen).max() + 1e-8 * np.abs(f(x)).max()
    )


@only("torch")
def five_points(f, vjp, x):
    """A difference of fourth order, in torch."""
    h = 1e-3 / 4
    eye = torch.eye(len(x), dtype=x.dtype)
    near = torch.stack([f(x + h * e) - f(x - h * e) for e in eye])
    wide = torch.stack([f(x + 2 * h * e) - f(x - 2 * h * e) for e in eye])
    slopes = (8 * near - wide) / (12 * h)
    ones = torch.eye(len(f(x)), dtype=x.dtype)
    claimed = torch.stack([vjp(x, u) for u in ones], dim=1)
    allowed = 1e-3 * slopes.abs().max() + 1e-8 * f(x).abs().max()
    return bool((claimed - slopes).abs().max() <= allowed)

import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(Q, noise, rho):
    """Entry by entry, over the flat arrays."""
    rest = math.sqrt(1 - rho * rho)
    flat = [rho * q + rest * e for q, e in zip(Q.ravel(), noise.ravel(), strict=True)]
    return np.array(flat, dtype=Q.dtype).reshape(Q.shape)


@only("numpy")
def by_an_angle(Q, noise, rho):
    """A turn by the angle whose cosine is rho; its sine is not negative."""
    angle = np.arccos(rho)
    return np.cos(angle) * Q + np.sin(angle) * noise


@only("torch")
def by_a_matrix(Q, noise, rho):
    """Both stacked, and one small product."""
    mix = torch.tensor([rho, math.sqrt((1 - rho) * (1 + rho))], dtype=Q.dtype)
    return torch.einsum("m,mij->ij", mix, torch.stack([Q, noise]))


@only("torch")
def by_addcmul(Q, noise, rho):
    """Library calls."""
    return torch.add(rho * Q, noise, alpha=(1 - rho**2) ** 0.5)

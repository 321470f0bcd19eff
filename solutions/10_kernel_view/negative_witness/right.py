import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def by_squaring(G):
    """A power of (size minus G) leaves the direction in which G is smallest."""
    size = np.abs(G).max() or 1.0
    symmetric = (G / size + G.T / size).astype(np.float64) / 2
    power = len(G) * np.eye(len(G)) - symmetric
    for _ in range(40):
        power = power @ power
        power /= np.abs(power).max()
    z = power[:, np.argmax(np.diag(power))]
    z = z / np.sqrt(sum(entry * entry for entry in z))
    value = sum(z[i] * symmetric[i, j] * z[j] for i in range(len(z)) for j in range(len(z)))
    return z.astype(G.dtype) if value < -1e-4 else None


@only("numpy")
def by_singular_values(G):
    """Lifted above zero, the most negative direction is the one that shrinks most."""
    half = (G / 2 + G.T / 2).astype(np.float64)
    lift = np.abs(half).sum(axis=1).max()
    _, lengths, directions = np.linalg.svd(half + lift * np.eye(len(G)))
    value = lengths[-1] - lift
    return 7 * directions[-1].astype(G.dtype) if value < -5e-5 * np.abs(G).max() else None


@only("torch")
def by_the_general_solver(G):
    """Eigenvalues of the symmetric part, which are real."""
    half = (G + G.mT) / 2
    values, vectors = torch.linalg.eig(half)
    least = values.real.argmin()
    if values.real[least] >= -1e-4 * G.abs().max():
        return None
    return vectors[:, least].real


@only("torch")
def by_projection(G):
    """The part of the space where the form is negative, taken whole."""
    values, vectors = torch.linalg.eigh(0.5 * (G + G.T))
    below = values < -1e-4 * G.abs().amax()
    return vectors[:, below].sum(dim=1) if below.any() else None

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def by_the_reader(E):
    """The best reader written down: what it recovers is a projector, and its trace counts."""
    recovered = np.linalg.pinv(E.astype(np.float64), rcond=1e-5) @ E
    return 1 - np.trace(recovered) / E.shape[1]


@only("numpy")
def by_the_error_matrix(E):
    """The energy of what is left of the identity."""
    left = np.eye(E.shape[1]) - np.linalg.pinv(E, rcond=1e-5) @ E
    return (left**2).sum() / E.shape[1]


@only("torch")
def by_singular_values(E):
    """Relative to the largest singular value."""
    sizes = torch.linalg.svdvals(E)
    return 1 - (sizes > 1e-4 * sizes.max()).sum() / E.shape[1]


@only("torch")
def by_the_library(E):
    """A plain Python number."""
    return 1 - torch.linalg.matrix_rank(E).item() / E.shape[1]

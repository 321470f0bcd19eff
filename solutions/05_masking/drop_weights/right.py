import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(A, kept, p):
    """One weight after the other."""
    answer = np.zeros_like(A)
    for place in np.ndindex(A.shape):
        if kept[place]:
            answer[place] = A[place] / (1 - p)
    return answer


@only("numpy")
def by_a_product(A, kept, p):
    """The booleans as 0 and 1, the factor put on them first."""
    return A * (kept.astype(A.dtype) * (1 / (1 - p)))


@only("torch")
def masked_fill(A, kept, p):
    """Everything stretched, then the dropped ones erased."""
    return (A / (1 - p)).masked_fill(~kept, 0)


@only("torch")
def into_zeros(A, kept, p):
    """The kept ones written into an array of zeros."""
    answer = torch.zeros_like(A)
    answer[kept] = A[kept] / (1 - p)
    return answer

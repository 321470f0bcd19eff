import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def keys_turned_back(n):
    """The key window turns back, the query window stays."""
    angle = -2 * np.pi / n
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.eye(2), turn


@only("numpy")
def with_complex_numbers(n):
    """The step as a complex number, loud."""
    step = np.exp(2j * np.pi / n)
    return 5 * np.array([[step.real, step.imag], [-step.imag, step.real]]), np.eye(2)


@only("torch")
def half_a_step_each(n):
    """Queries turn half a step forwards, keys half a step back."""

    def turn(angle):
        c, s = torch.cos(torch.tensor(angle)), torch.sin(torch.tensor(angle))
        return torch.stack([torch.stack([c, s]), torch.stack([-s, c])])

    return turn(torch.pi / n), turn(-torch.pi / n)


@only("torch")
def by_matrix_exponential(n):
    """A rotation is the exponential of a skew matrix."""
    skew = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    return torch.linalg.matrix_exp(2 * torch.pi / n * skew), torch.eye(2)

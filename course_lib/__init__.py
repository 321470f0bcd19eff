"""Every formula of the course once, for NumPy arrays and torch tensors alike."""

from course_lib.softmax_family import (
    entropy,
    entropy_of_scores,
    log_softmax,
    logsumexp,
    softmax,
    softmax_at,
    softmax_jacobian,
    softmax_or_zeros,
    softmax_vjp,
)

__all__ = [
    "entropy",
    "entropy_of_scores",
    "log_softmax",
    "logsumexp",
    "softmax",
    "softmax_at",
    "softmax_jacobian",
    "softmax_or_zeros",
    "softmax_vjp",
]

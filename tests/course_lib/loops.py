"""Plain loops in torch, for judges that no library has."""

import math

import torch


def table(rows: int, columns: int, entry, like: torch.Tensor) -> torch.Tensor:
    """Fill a table entry by entry, as a formula with two indices says."""
    numbers = [torch.as_tensor(entry(i, j)) for i in range(rows) for j in range(columns)]
    if not numbers:
        return like.new_zeros(rows, columns)
    return torch.stack(numbers).reshape(rows, columns)


def each(judge):
    """Apply a judge of single matrices to each matrix of a stack, one after the other."""

    def over_stack(*stacks):
        batch = torch.broadcast_shapes(*(x.shape[:-2] for x in stacks))
        flat = [
            x.expand(*batch, *x.shape[-2:]).reshape(math.prod(batch), *x.shape[-2:]) for x in stacks
        ]
        if 0 in batch:
            one = judge(*(x.new_ones(x.shape[-2:]) for x in stacks))
            return one.new_zeros(*batch, *one.shape)
        results = [judge(*matrices) for matrices in zip(*flat, strict=True)]
        return torch.stack(results).reshape(*batch, *results[0].shape)

    return over_stack


def squared_distance(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(Q.unsqueeze(-2) - K.unsqueeze(-3), dim=-1) ** 2

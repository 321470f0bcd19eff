"""On which device answers are called, and what is said where there is none."""

TRUSTED = "trusted"
"""The tier without a sandbox, the only one in which a submission sees a GPU."""
NO_CUDA = """\
--device cuda was asked for, and torch finds no CUDA device on this machine. Nothing was graded.
Leave --device out: the same tests run on the CPU with the same tolerances, and `check` in the
student's notebook replays torch answers on torch's meta device, where a tensor made on the wrong
device is found without a GPU. With a GPU elsewhere, add --scheduler ADDRESS of a Dask cluster."""
NO_GPU_IN_THE_SANDBOX = """\
--device cuda was asked for, and the sandbox shows submissions no GPU: its driver wants device
files and address space that the sandbox refuses. Nothing was graded. On a machine that holds
nothing but this class's submissions, and only there, add --trust-submissions."""


def cuda_here() -> bool:
    import torch

    return torch.cuda.is_available()

"""One thread for torch: two cores are shared by the workers of pytest-xdist."""

import torch

torch.set_num_threads(1)

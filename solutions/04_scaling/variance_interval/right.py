import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_sums(x):
    """From the second and the fourth central moment, summed without rounding."""
    n = len(x)
    mean = math.fsum(x) / n
    second = math.fsum((value - mean) ** 2 for value in x) / n
    fourth = math.fsum((value - mean) ** 4 for value in x) / n
    half = 1.96 * math.sqrt((fourth - second**2) / n)
    return second - half, second + half


@only("numpy")
def with_n_minus_one(x):
    """The unbiased variance, and the standard error of the squared deviations."""
    middle = np.var(x, ddof=1)
    half = 1.96 * np.std((x - x.mean()) ** 2, ddof=1) / np.sqrt(x.size)
    return np.array([middle - half, middle + half])


@only("torch")
def with_kurtosis(x):
    """The variance times the root of (kurtosis - 1)/n."""
    variance = x.var()
    kurtosis = (((x - x.mean()) / x.std()) ** 4).mean()
    half = 1.96 * variance * ((kurtosis - 1) / x.numel()).sqrt()
    return variance - half, variance + half


@only("torch")
def jackknife(x):
    """Leave each number out in turn; the scatter of the variances left gives the error."""
    n = len(x)
    squares = (x.double() - x.double().mean()) ** 2
    left_out = (squares.sum() - squares * n / (n - 1)) / (n - 2)
    half = 1.96 * ((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()).sqrt()
    middle = squares.sum() / (n - 1)
    return torch.stack([middle - half, middle + half]).to(x.dtype)

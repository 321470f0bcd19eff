"""Chapter 10, the kernel view: what has a closed form. C-numbers are claims."""

import math

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from course_lib.island import KEYS, VALUES
from tests.course_lib.cases import generated, judges, normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def test_a_tied_kernel_is_positive_semidefinite_and_reversible():
    r"""C134: $\exp(x \cdot y)$ has no negative eigenvalue; $\lambda(A) \in [0, 1]$."""
    X = normal(12, 4)
    for kernel in (lib.dot_scores, lib.exponential_kernel, lib.gaussian_kernel):
        assert lib.is_positive_semidefinite(lib.gram(kernel, X))
    G = lib.gram(lib.exponential_kernel, X)
    A = lib.row_normalised(G)
    assert_close(A, lib.softmax(lib.dot_scores(X, X)))
    eigenvalues = np.linalg.eigvals(A)
    assert_close(eigenvalues.imag, np.zeros(12))
    assert eigenvalues.real.min() > 0 and eigenvalues.real.max() < 1 + 1e-12
    assert np.abs(A - A.T).max() > 0.01


def test_symmetric_is_not_enough():
    r"""C135: $e^{-xy}$ on $\{1, -1\}$ has eigenvalues -2.350 and 3.086."""
    G = lib.gram(lambda X, Y: lib.exponential_kernel(X, -Y), np.array([[1.0], [-1.0]]))
    assert_digits(np.linalg.eigvalsh(G), [-2.350, 3.086], 3)
    assert not lib.is_positive_semidefinite(G)


@judges("is_positive_semidefinite", by="matrices built to be")
@generated(st.integers(0, 7), st.integers(0, 3), st.integers(0, 2**32 - 1), st.floats(-8, 8))
def test_semidefiniteness_is_told_at_every_scale(n, rank, seed, power):
    r"""$BB^\top$ is; with one eigenvalue of $-10^{-6}$ of the largest it is not."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, rank)) * 10**power
    G = B @ B.T
    assert lib.is_positive_semidefinite(G)
    assert lib.is_positive_semidefinite(torch.from_numpy(G))
    if n > 1:
        outside = G - 1e-6 * (np.trace(G) + 10**power) * np.eye(n)
        smallest = np.linalg.eigvalsh(outside)[0]
        assert lib.is_positive_semidefinite(outside) == (smallest > 0)
        assert not lib.is_positive_semidefinite(G + 10**power * np.triu(np.ones((n, n)), 1))


def test_untied_projections_give_a_directed_kernel():
    r"""C131, C133: the score has rank $d_k$ and a skew part."""
    X = normal(50, 16)
    S = lib.dot_scores(X @ normal(16, 4, seed=1), X @ normal(16, 4, seed=2))
    assert np.linalg.matrix_rank(S) == 4
    symmetric, skew = lib.symmetric_and_skew(S)
    assert_close(symmetric + skew, S)
    assert np.abs(skew).max() > 1 and np.linalg.eigvalsh(symmetric)[0] < -1


def test_exponential_kernel_factors():
    r"""C136: $e^{q \cdot k} = e^{|q|^2/2} e^{-|q - k|^2/2} e^{|k|^2/2}$."""
    Q, K = normal(3, 4) / 2, normal(5, 4, seed=1) / 2
    left, right = (np.exp((X**2).sum(-1) / 2) for X in (Q, K))
    factored = left[:, None] * lib.gaussian_kernel(Q, K) * right
    assert_close(lib.exponential_kernel(Q, K), factored)


def test_metric_attention_is_dot_product_attention_for_equal_keys():
    r"""C141: with $s^2 = \sqrt{d_k}$, after one more coordinate or on the dial."""
    Q, K, V = normal(3, 4), normal(7, 4, seed=1), normal(7, 2)
    expected = lib.scaled_dot_product_attention(Q, K, V)
    s = 4**0.25
    assert_close(lib.nadaraya_watson(*lib.equal_length_keys(Q, K), V, s), expected)
    assert np.abs(lib.nadaraya_watson(Q, K, V, s) - expected).max() > 0.01
    dial = normal(3, 2)
    expected = lib.scaled_dot_product_attention(dial, KEYS, VALUES)
    assert_close(lib.nadaraya_watson(dial, KEYS, VALUES, 2**0.25), expected)


@pytest.mark.parametrize(("s", "printed"), [(0.3, -1.54404), (0.1, -1.69428), (0.03, -1.71311)])
def test_narrow_attention_is_drift_and_diffusion(s, printed):
    r"""C142: $\rho = N(0, 1)$, $f = \sin$, $x = 0.7$; the limit is $f'' + 2(\log\rho)' f'$."""
    grid = np.linspace(-8, 8, 40_001)
    found = lib.diffusion_quotient(
        np.array([[0.7]]), np.sin([0.7]), grid[:, None], np.sin(grid), s, log_density=-(grid**2) / 2
    )
    assert_digits(found, [printed], 5)
    assert_digits(-np.sin(0.7) - 2 * 0.7 * np.cos(0.7), -1.71500, 5)


def test_the_circle_carries_the_heat_kernel():
    r"""C143: $A_s \cos kx = e^{-k^2 s^2/2} \cos kx$ and $A_s A_s = A_{s\sqrt2}$."""
    A, angle = lib.heat_kernel_on_circle(400, 0.2), 2 * np.pi * np.arange(400) / 400
    for k, printed in ((1, 0.980199), (3, 0.835270), (5, 0.606531)):
        assert_close(A @ np.cos(k * angle), np.exp(-(k**2) * 0.02) * np.cos(k * angle))
        assert_digits(np.exp(-(k**2) * 0.02), printed, 6)
    assert_close(A @ A, lib.heat_kernel_on_circle(400, 0.2 * math.sqrt(2)))
    wide = lib.heat_kernel_on_circle(16, 1.5, images=2)
    assert_close(wide, wide.T)

"""Chapter 5, masking: what has a closed form. C-numbers are claims."""

import numpy as np
import torch
from hypothesis import strategies as st

from tests.course_lib.cases import generated, judges, normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close


def test_masking_is_zeroing_and_renormalising():
    r"""C081: $A_{ij} \propto M_{ij} e^{S_{ij}}$."""
    S, M = normal(5, 7), np.random.default_rng(1).random((5, 7)) < 0.6
    M[:, 0] = True
    expected = lib.softmax(S) * M
    masked = lib.softmax(lib.mask_scores(S, M))
    assert_close(masked, expected / expected.sum(-1, keepdims=True))


def test_no_output_depends_on_the_future():
    r"""C082, C083: $\partial o_i/\partial x_j = 0$ exactly for $j > i$."""
    X = torch.from_numpy(normal(5, 3))

    def layer(X):
        return lib.scaled_dot_product_attention(X, X, X, is_causal=True)

    J = torch.func.jacrev(layer)(X).abs().amax((1, 3))
    assert torch.equal(J > 0, torch.ones(5, 5, dtype=torch.bool).tril())


def test_a_mask_of_ones_and_infinities_changes_nothing():
    r"""C085: adding 1 to all visible scores of a row is a shift."""
    S, M = normal(5, 5), lib.causal_from_start(5, 5)
    ones = lib.additive_mask(M, like=S) + 1
    assert_close(lib.softmax(S + ones), lib.softmax(S + lib.additive_mask(M, like=S)))


def test_hidden_keys_change_nothing_and_get_no_gradient():
    r"""C087: $\partial L/\partial k_j = \partial L/\partial v_j = 0$ exactly for hidden j."""
    Q, K, V, u = normal(3, 5), normal(7, 5, seed=1), normal(7, 2), normal(3, 2, seed=2)
    M = np.array([True, False, True, True, False, True, True])
    expected = lib.scaled_dot_product_attention(Q, K[M], V[M])
    assert_close(lib.scaled_dot_product_attention(Q, K, V, attn_mask=M[None]), expected)
    _, dK, dV = lib.attention_vjp(Q, K, V, u, attn_mask=M[None])
    assert not dK[~M].any() and not dV[~M].any()


def test_padding_changes_nothing():
    r"""C088: a padded batch with its mask equals the sequences without padding."""
    X = normal(2, 7, 3)
    mask = lib.not_padding([5, 7], 7)
    padded = lib.scaled_dot_product_attention(X, X, X, attn_mask=mask)
    assert_close(padded[0, :5], lib.scaled_dot_product_attention(*[X[0, :5]] * 3))
    assert_close(padded[1], lib.scaled_dot_product_attention(*[X[1]] * 3))


def test_dropout_keeps_the_mean_and_spreads_the_sum():
    r"""C091, C092: $E[\tilde A] = A$; row sums have deviation $\sqrt{p/(1-p) \sum a^2}$."""
    A, p = lib.softmax(normal(4, 6)), 0.25
    dropped = lib.dropout(np.broadcast_to(A, (20_000, 4, 6)).copy(), p, seed=0)
    assert np.abs(dropped.mean(0) - A).max() < 0.01
    expected = np.sqrt(p / (1 - p) * (A**2).sum(-1))
    np.testing.assert_allclose(dropped.sum(-1).std(0), expected, rtol=0.03)
    kept = dropped[dropped != 0] / np.broadcast_to(A, dropped.shape)[dropped != 0]
    assert_close(kept, np.full(kept.shape, 1 / (1 - p)))


def test_dropout_in_attention_follows_torchs_generator():
    """The same seed of torch gives the same weights; another gives others."""
    Q = torch.from_numpy(normal(2, 5, 3))
    outputs = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        outputs.append(lib.scaled_dot_product_attention(Q, Q, Q, dropout_p=0.5))
    assert torch.equal(outputs[0], outputs[1]) and not torch.equal(outputs[0], outputs[2])
    assert not lib.scaled_dot_product_attention(Q, Q, Q, dropout_p=1.0).any()


def test_dropout_with_a_seed_is_the_same_everywhere():
    """NumPy, torch, any dtype."""
    A = lib.softmax(normal(4, 6))
    dropped = lib.dropout(A, 0.5, seed=3)
    assert_close(lib.dropout(torch.from_numpy(A), 0.5, seed=3), dropped)
    for p in (0.0, 0.5, 1.0):
        assert lib.dropout(A.astype(np.float16), p, seed=3).dtype == np.float16
    assert_close(lib.dropout(A, 0.0), A)


@judges("all_of", by="torch.all")
@generated(
    st.lists(st.sampled_from([(), (1,), (5,), (3, 1), (3, 5), (2, 1, 1), (2, 3, 5)]), max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.integers(0, 2**32 - 1),
)
def test_all_masks_are_their_conjunction(shapes, absent, seed):
    """Whatever shapes broadcast; None allows everything; no mask at all is None."""
    rng = np.random.default_rng(seed)
    masks = [np.asarray(rng.random(shape) < 0.7) for shape in shapes]
    chosen = [None if gone else mask for mask, gone in zip(masks, absent, strict=False)]
    present = [torch.from_numpy(mask) for mask in chosen if mask is not None]
    found = lib.all_of(*chosen)
    assert (found is None) == (not present)
    if present:
        expected = torch.stack(torch.broadcast_tensors(*present)).all(0)
        assert isinstance(found, np.ndarray | np.bool_) and np.array_equal(found, expected)
        assert torch.equal(lib.all_of(*present), expected)

"""What cannot be computed is refused at the public door, with what was given and what to do."""

import math

import numpy as np
import pytest
import torch

import course_lib as lib

X = np.ones((2, 5, 6))
M = lib.MultiHeadWeights(*[np.ones((6, 6))] * 4)
DECODER = lib.DecoderWeights(
    M, M, lib.FeedForwardWeights(np.ones((6, 3)), np.ones((3, 6))), *[lib.NormWeights()] * 3
)


def ones(*shape, dtype=float):
    return np.ones(shape, dtype)


def sdpa(*arguments, **options):
    return lambda: lib.scaled_dot_product_attention(*arguments, **options)


CASES = {
    "a list": (lambda: lib.softmax([1.0, 2.0]), TypeError, "x is a list; expected a NumPy array"),
    "integers": (lambda: lib.softmax(ones(3, dtype=int)), TypeError, "x of.* int64.*x.astype"),
    "torch integers": (lambda: lib.softmax(torch.ones(3).int()), TypeError, "int32.*x.float()"),
    "booleans": (
        lambda: lib.dot_scores(ones(2, 3) > 0, ones(2, 3) > 0),
        TypeError,
        r"Q of shape \(2, 3\) has dtype bool",
    ),
    "no such axis": (
        lambda: lib.softmax(ones(2, 3), axis=2),
        ValueError,
        r"\(2, 3\) and no axis 2",
    ),
    "all axes": (lambda: lib.softmax(ones(2, 3), axis=None), TypeError, "axis is None; expected"),
    "an empty axis": (
        lambda: lib.softmax(ones(2, 0)),
        ValueError,
        r"x has shape \(2, 0\).*is empty",
    ),
    "an empty row for log_softmax": (lambda: lib.log_softmax(ones(2, 0)), ValueError, "is empty"),
    "an empty row for logsumexp": (lambda: lib.logsumexp(ones(2, 0)), ValueError, "is empty"),
    "an empty row for softmax_at": (lambda: lib.softmax_at(ones(0), 2.0), ValueError, "is empty"),
    "an empty row for entropy": (lambda: lib.entropy_of_scores(ones(0)), ValueError, "is empty"),
    "no feature to vary": (
        lambda: lib.score_variance(ones(0), ones(0, 0), ones(0), ones(0, 0)),
        ValueError,
        r"mu_q has shape \(0,\)",
    ),
    "no axis at all": (
        lambda: lib.softmax(np.float64(3)),
        ValueError,
        r"expected the axes \(\*rows, n\)",
    ),
    "wrong rank": (sdpa(ones(3), X, X), ValueError, r"query has shape \(3,\).*n_q, d_k"),
    "unequal d_k": (sdpa(X, ones(2, 5, 7), X), ValueError, "key.*d_k = 7, but query has d_k = 6"),
    "unequal n_k": (sdpa(X, X, ones(2, 4, 6)), ValueError, "value.*n_k = 4, but key has n_k = 5"),
    "batches that do not fit": (sdpa(X, ones(3, 5, 6), X), ValueError, "leading axes.*broadcast"),
    "mixed libraries": (
        sdpa(X, torch.ones(2, 5, 6), X),
        TypeError,
        r"query is a NumPy array of shape \(2, 5, 6\) and key a t",
    ),
    "mixed devices": (
        sdpa(torch.ones(5, 6), torch.ones(5, 6, device="meta"), torch.ones(5, 6)),
        ValueError,
        r"query of shape \(5, 6\) is on cpu and key of shape \(5, 6\) on meta",
    ),
    "mixed dtypes": (
        sdpa(X, X.astype("f4"), X),
        TypeError,
        r"query of.* has dtype float64 and key of shape \(2, 5, 6\) float32",
    ),
    "an integer mask": (
        sdpa(X, X, X, ones(5, 5, dtype=int)),
        TypeError,
        r"attn_mask of shape \(5, 5\) has dtype int64.*== 1",
    ),
    "a mask that does not fit": (
        sdpa(X, X, X, ones(5, 4) > 0),
        ValueError,
        r"attn_mask has shape \(5, 4\)",
    ),
    "a mask of another library": (
        sdpa(X, X, X, torch.ones(5, 5).bool()),
        TypeError,
        r"attn_mask a torch tensor of shape \(5, 5\); expected one library",
    ),
    "a mask that adds axes": (
        sdpa(X, X, X, ones(3, 2, 5, 5) > 0),
        ValueError,
        "broadcasts to the scores",
    ),
    "groups that do not divide": (
        sdpa(ones(6, 5, 4), ones(4, 5, 4), ones(4, 5, 4), enable_gqa=True),
        ValueError,
        r"key has shape \(4, 5, 4\) and there are 6 heads and 4 groups",
    ),
    "groups without heads": (
        sdpa(X, X, X[0], enable_gqa=True),
        ValueError,
        r"value has shape \(5, 6\); expected an axis of heads",
    ),
    "heads that do not divide": (lambda: lib.split_heads(X, 4), ValueError, "heads is 4.*divide 6"),
    "heads that do not divide the projection": (
        lambda: lib.multi_head_attention(X, X, X, M, 4),
        ValueError,
        r"weights.W_Q has shape \(6, 6\) and heads is 4; expected heads to divide 6",
    ),
    "a module in place of its weights": (
        lambda: lib.multi_head_attention(X, X, X, torch.nn.MultiheadAttention(6, 2), 2),
        TypeError,
        "weights is a MultiheadAttention; expected MultiHeadWeights",
    ),
    "one layer in place of a stack": (
        lambda: lib.encoder_stack(X, lib.EncoderWeights(M, None, None, None), 2),
        TypeError,
        "weights is a MultiHeadWeights; expected EncoderWeights",
    ),
    "a mask of the source that does not fit": (
        lambda: lib.decoder_block(X, X, DECODER, 2, source_mask=ones(5, 4) > 0),
        ValueError,
        r"source_mask has shape \(5, 4\)",
    ),
    "no heads": (lambda: lib.multi_head_attention(X, X, X, M, 0), ValueError, "heads is 0"),
    "a projection that does not fit": (
        lambda: lib.multi_head_attention(X, X, X, M._replace(W_K=ones(7, 6)), 2),
        ValueError,
        r"weights.W_K has shape \(7, 6\), so d_keys = 7, but key has d_keys = 6",
    ),
    "keys that are no groups": (
        lambda: lib.multi_head_attention(X, X, X, M._replace(W_K=ones(6, 5)), 2),
        ValueError,
        "columns to be a multiple of d_k = 3",
    ),
    "a module of another size": (
        lambda: lib.multi_head_to_torch(M, torch.nn.MultiheadAttention(4, 2)),
        ValueError,
        r"W_Q has shape \(6, 6\); expected \(4, 4\), as in the module",
    ),
    "a module with more keys": (
        lambda: lib.multi_head_from_torch(torch.nn.MultiheadAttention(4, 2, add_zero_attn=True)),
        ValueError,
        "add_zero_attn",
    ),
    "a cotangent of another shape": (
        lambda: lib.attention_vjp(X, X, X, X[0]),
        ValueError,
        r"cotangent has shape \(5, 6\).*\(2, 5, 6\)",
    ),
    "a cotangent of another width": (
        lambda: lib.blockwise_attention_vjp(X, X, X, X[..., :2]),
        ValueError,
        "d_v",
    ),
    "rows that differ": (
        lambda: lib.softmax_vjp(ones(2, 3), ones(4, 3)),
        ValueError,
        "leading axes",
    ),
    "negative temperature": (
        lambda: lib.softmax_at(ones(3), -1.0),
        ValueError,
        "temperature is -1.0",
    ),
    "temperature NaN": (
        lambda: lib.softmax_at(ones(3), math.nan),
        ValueError,
        "temperature is nan",
    ),
    "no probability": (lambda: lib.dropout(ones(3, 3), 1.5), ValueError, "p is 1.5"),
    "dropout in attention": (sdpa(X, X, X, dropout_p=-0.1), ValueError, "dropout_p is -0.1"),
    "no bandwidth": (lambda: lib.gaussian_scores(X, X, 0.0), ValueError, "bandwidth is 0.0"),
    "no block": (lambda: lib.blockwise_attention(X, X, X, block_q=0), ValueError, "block_q"),
    "a negative window": (lambda: lib.sliding_window(3, 3, -1), ValueError, "left is -1"),
    "a negative window of attention": (
        lambda: lib.sliding_window_attention(X, X, X, 1, -2),
        ValueError,
        "left is 1 and right -2",
    ),
    "a negative length": (lambda: lib.causal_to_end(-1, 3), ValueError, "n_q is -1"),
    "no chunk": (lambda: lib.same_block(3, 3, 0), ValueError, "size is 0"),
    "no stride": (lambda: lib.strided_causal(3, 3, 0), ValueError, "stride is 0"),
    "too long a sequence": (lambda: lib.not_padding([2, 5], 4), ValueError, r"lengths holds \[5\]"),
    "half a token": (lambda: lib.not_padding([2.5], 4), ValueError, r"lengths holds \[2.5\]"),
    "no permutation": (lambda: lib.permutation_matrix([0, 0]), ValueError, r"order is \[0, 0\]"),
    "an odd width": (
        lambda: lib.rotary(ones(3, 5)),
        ValueError,
        r"X has shape \(3, 5\), so d_k = 5; expected an even",
    ),
    "odd sinusoids": (lambda: lib.sinusoidal_positions(3, 5), ValueError, "d_model is 5"),
    "no place": (lambda: lib.sinusoidal_positions(-1, 4), ValueError, "n is -1"),
    "a negative count of places": (lambda: lib.alibi_bias(2, -1, 2), ValueError, "n_q is -1"),
    "places like integers": (
        lambda: lib.alibi_bias(2, 3, 3, like=ones(1, dtype=int)),
        TypeError,
        r"like of shape \(1,\) has dtype int64; expected float",
    ),
    "a mask like a list": (
        lambda: lib.causal_from_start(2, 2, like=[1.0]),
        TypeError,
        "like is a list; expected a NumPy array",
    ),
    "an unknown layout": (lambda: lib.rotary(ones(3, 4), layout="thirds"), ValueError, "'thirds'"),
    "no heads for positions": (lambda: lib.alibi_bias(0, 2, 2), ValueError, "heads is 0"),
    "an uneven layer": (lambda: lib.layer_flops(4, 6, 4), ValueError, "d_model is 6 and heads 4"),
    "no layer": (lambda: lib.crossover(0), ValueError, "d_model is 0"),
    "no decoder layer": (lambda: lib.decoder_crossover(0), ValueError, "d_model is 0"),
    "a layer without heads": (lambda: lib.layer_flops(4, 6, 0), ValueError, "heads 0"),
    "an unknown score": (lambda: lib.score_parameters("hat", 1, 1), ValueError, "one of dot, mult"),
    "no feature to norm": (lambda: lib.layer_norm(ones(3, 0)), ValueError, "at least one feature"),
    "one token only": (
        lambda: lib.previous_token_score(ones(1, 1)),
        ValueError,
        "at least two tokens",
    ),
    "tokens that are floats": (
        lambda: lib.induction_score(ones(3, 3), ones(3)),
        TypeError,
        r"tokens of shape \(3,\) has dtype float64; expected int",
    ),
    "a table that is not square": (lambda: lib.symmetric_and_skew(ones(2, 3)), ValueError, "n = 3"),
    "integers among masks": (
        lambda: lib.all_of(ones(2, 2) > 0, ones(2, 2)),
        TypeError,
        "expected bool",
    ),
    "a mask that does not fit the scores": (
        lambda: lib.mask_scores(ones(2, 3), ones(3, 2) > 0),
        ValueError,
        r"attn_mask has shape \(3, 2\)",
    ),
    "a mask that blocks would cut to fit": (
        lambda: lib.blockwise_attention(X, X, X, ones(9, 9) > 0),
        ValueError,
        r"attn_mask has shape \(9, 9\)",
    ),
    "no groups": (
        sdpa(ones(6, 5, 4), ones(0, 5, 4), ones(0, 5, 4), enable_gqa=True),
        ValueError,
        "6 heads and 0 groups",
    ),
    "tokens of another width": (
        lambda: lib.self_attention(ones(5, 4), ones(3, 2), ones(3, 2), ones(3, 2)),
        ValueError,
        "W_Q has shape .*d_model = 3, but X has d_model = 4",
    ),
    "contributions of no head": (
        lambda: lib.head_contributions(ones(0, 5, 5), X[0], M),
        ValueError,
        r"W_O has shape \(6, 6\) and attended \(0, 5, 5\); expected the 0 heads",
    ),
    "contributions of uneven heads": (
        lambda: lib.head_contributions(ones(4, 5, 5), X[0], M),
        ValueError,
        r"W_O has shape \(6, 6\) and attended \(4, 5, 5\); expected the 4 heads",
    ),
    "heads of width 0": (
        lambda: lib.multi_head_attention(X, X, X, M._replace(W_Q=ones(6, 0)), 2),
        ValueError,
        "d_k = 0",
    ),
    "no step": (
        lambda: lib.central_difference(np.sum, ones(2), ones(2), step=0.0),
        ValueError,
        "step is 0",
    ),
    "shaping without a temperature": (
        lambda: lib.shaped_weights(ones(2, 2), ones(2, 2), 0.0),
        ValueError,
        "temperature is 0.0",
    ),
    "shaping without tokens": (
        lambda: lib.shaped_weights(ones(0, 2), ones(0, 2)),
        ValueError,
        "at least one token",
    ),
    "a flow without a step": (
        lambda: lib.token_flow(ones(2, 2), 1.0, 0.0, 3),
        ValueError,
        "step is 0.0",
    ),
    "a flow backwards": (lambda: lib.token_flow(ones(2, 2), 1.0, 0.1, -1), ValueError, "steps -1"),
    "energy without a temperature": (
        lambda: lib.flow_energy(ones(2, 2), 0.0),
        ValueError,
        "beta is 0",
    ),
    "energy of nothing": (
        lambda: lib.flow_energy(ones(0, 2), 1.0),
        ValueError,
        "at least one token",
    ),
    "consensus of nobody": (
        lambda: lib.distance_to_consensus(ones(0, 2)),
        ValueError,
        "at least one",
    ),
    "sparsemax of nothing": (lambda: lib.sparsemax(ones(2, 0)), ValueError, "at least one entry"),
    "a head without queries": (
        lambda: lib.head_entropy(ones(0, 3)),
        ValueError,
        "at least one query",
    ),
    "distances of nothing": (
        lambda: lib.attention_distance(ones(0, 0)),
        ValueError,
        "at least one query",
    ),
    "a circle of no points": (lambda: lib.heat_kernel_on_circle(0, 1.0), ValueError, "n is 0"),
    "keys of no length": (
        lambda: lib.equal_length_keys(ones(2, 3), ones(0, 3)),
        ValueError,
        "one key",
    ),
    "no random direction": (
        lambda: lib.positive_random_features(ones(2, 3), ones(0, 3)),
        ValueError,
        "at least one row",
    ),
    "no iteration": (lambda: lib.sinkhorn(ones(2, 2), 0), ValueError, "iterations is 0"),
    "half a residual too much": (
        lambda: lib.attention_rollout(ones(2, 3, 3), 1.5),
        ValueError,
        "1.5",
    ),
    "rows that do not add up": (
        lambda: lib.additive_scores_concatenated(ones(2, 3), ones(4, 5), ones(7, 2), ones(2)),
        ValueError,
        r"W has shape \(7, 2\); expected d_q [+] d_k = 3 [+] 5",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_a_reason(name):
    """The message names the argument and what was expected."""
    call, kind, message = CASES[name]
    with pytest.raises(kind, match=f"(?s){message}") as caught:
        call()
    assert "expected" in str(caught.value)

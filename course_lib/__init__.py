"""Every formula of the course once, for NumPy arrays and torch tensors alike."""

from course_lib.attention import (
    attend,
    attention_with_weights,
    cross_attention,
    nadaraya_watson,
    project,
    repeat_groups,
    scaled_dot_product_attention,
    self_attention,
)
from course_lib.complexity import (
    LayerFlops,
    attention_bytes,
    attention_flops,
    attention_parameters,
    blockwise_bytes,
    cache_bytes,
    crossover,
    decode_flops,
    decoder_crossover,
    decoder_layer_flops,
    ffn_parameters,
    layer_flops,
    linear_attention_flops,
    matmul_flops,
    model_training_flops,
    score_parameters,
    training_flops,
)
from course_lib.dynamics import (
    distance_to_consensus,
    flow_energy,
    flow_velocity,
    hopfield_update,
    sinkhorn,
    sparsemax,
    token_flow,
)
from course_lib.efficient import (
    OnlineSoftmax,
    blockwise_attention,
    blockwise_attention_vjp,
    online_answer,
    online_start,
    online_update,
    sliding_window_attention,
)
from course_lib.gradients import (
    attention_vjp,
    central_difference,
    numerical_gradient,
    projection_vjp,
    reversed_attention,
)
from course_lib.heads import (
    MultiHeadWeights,
    head_contributions,
    merge_heads,
    multi_head_attention,
    multi_head_from_torch,
    multi_head_to_torch,
    split_heads,
)
from course_lib.interventions import Interventions, Run
from course_lib.kernels import (
    diffusion_quotient,
    equal_length_keys,
    exponential_kernel,
    gaussian_kernel,
    gram,
    heat_kernel_on_circle,
    is_positive_semidefinite,
    row_normalised,
    symmetric_and_skew,
)
from course_lib.linear import (
    causal_linear_attention,
    elu_plus_one,
    linear_attention,
    positive_random_features,
    random_directions,
    random_feature_attention,
)
from course_lib.masks import (
    additive_mask,
    all_of,
    boolean_mask,
    causal_from_start,
    causal_to_end,
    dropout,
    global_tokens,
    mask_scores,
    not_padding,
    same_block,
    sliding_window,
    strided_causal,
)
from course_lib.positions import (
    alibi_bias,
    permutation_matrix,
    permute_mask,
    rotary,
    sinusoid_shift,
    sinusoidal_positions,
)
from course_lib.reaction_model import ReactionModel
from course_lib.reading import (
    attention_distance,
    attention_rollout,
    head_entropy,
    induction_score,
    previous_token_score,
    value_weighted,
)
from course_lib.scoring import (
    additive_scores,
    additive_scores_concatenated,
    cosine_scores,
    dot_scores,
    gaussian_scores,
    multiplicative_scores,
    scaled_dot_scores,
    score_variance,
)
from course_lib.sentence_encoder import SentenceEncoder
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
from course_lib.tokenwise import (
    FeedForwardWeights,
    GatedWeights,
    feed_forward,
    gated_feed_forward,
    gelu,
    layer_norm,
    relu,
    silu,
)
from course_lib.transformer import (
    DecoderWeights,
    EncoderWeights,
    NormWeights,
    decoder_block,
    decoder_from_torch,
    decoder_stack,
    encoder_block,
    encoder_from_torch,
    encoder_stack,
    shaped_weights,
)

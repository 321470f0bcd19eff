"""All judged functions, and those whose judge is a property with a test of its own."""

from tests.course_lib.judges_attention import ATTENTION, EFFICIENT, GRADIENTS, HEADS, LINEAR
from tests.course_lib.judges_blocks import BLOCKS, DYNAMICS, KERNELS, POSITIONS, READING
from tests.course_lib.judges_core import MASKS, SCORES, SOFTMAX

CASES = [
    *SOFTMAX,
    *SCORES,
    *MASKS,
    *ATTENTION,
    *HEADS,
    *POSITIONS,
    *EFFICIENT,
    *LINEAR,
    *KERNELS,
    *GRADIENTS,
    *BLOCKS,
    *DYNAMICS,
    *READING,
]

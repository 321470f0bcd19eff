"""All judged functions, and those whose judge is a property with a test of its own."""

from tests.course_lib.judges_attention import ATTENTION, HEADS
from tests.course_lib.judges_blocks import BLOCKS
from tests.course_lib.judges_core import MASKS, SCORES, SOFTMAX
from tests.course_lib.judges_efficient import EFFICIENT, GRADIENTS, LINEAR
from tests.course_lib.judges_positions import KERNELS, POSITIONS
from tests.course_lib.judges_reading import DYNAMICS, READING

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

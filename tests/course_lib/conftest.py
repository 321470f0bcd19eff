"""One thread for torch: two cores are shared by the workers of pytest-xdist.

The published models are fetched for the tests that use them, as `course models` does. Where they
cannot be had those tests fail, everywhere: without them nothing is known about these models.
"""

import pytest
import torch

from autograder.book import pretrained
from course_lib import ReactionModel, reaction_model

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def fetched_models():
    pretrained.fetch(print)


@pytest.fixture(scope="session")
def reaction_package(shared):
    """The folder of the model inside the package that its authors published."""

    def make(folder):
        pretrained.unpack(reaction_model.SOURCE, folder / "package")

    return shared.get("reaction-package", make) / "package" / "unpacked" / pretrained.RXN


@pytest.fixture(scope="session")
def reader(fetched_models):
    """The reaction model with its exact weights."""
    return ReactionModel.load("float32")

"""Settings for all tests."""

import torch
from hypothesis import settings

settings.register_profile("certiset", deadline=None, max_examples=200)
settings.load_profile("certiset")

# The suite runs in one process a core; more threads than that only wait for each other.
torch.set_num_threads(1)

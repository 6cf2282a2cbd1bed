"""Settings for all tests."""

import os

import torch
from hypothesis import settings

# In CI the examples are the same every time; elsewhere they explore.
settings.register_profile("certiset", deadline=None, max_examples=200, derandomize="CI" in os.environ)
settings.load_profile("certiset")

# The suite runs in one process a core; more threads than that only wait for each other.
torch.set_num_threads(1)

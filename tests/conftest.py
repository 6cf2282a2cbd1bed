"""Settings for all tests."""

import os
import signal

import torch
from hypothesis import settings

# In CI the examples are the same every time; elsewhere they explore.
settings.register_profile("certiset", deadline=None, max_examples=200, derandomize="CI" in os.environ)
settings.load_profile("certiset")

# The suite runs in one process a core; more threads than that only wait for each other.
torch.set_num_threads(1)

# A shell lets what runs in the background ignore Ctrl-C, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

"""The devices that tests run on: the CPU always, CUDA where there is one."""

import torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
DTYPES = [torch.float32, torch.float64]

"""The devices that PyTorch sees, and whether a GPU comes to the same results as the CPU."""

from collections.abc import Iterator

import torch

from certiset.core.errors import CertisetError, first_line
from certiset.core.settings import Settings
from certiset.service.doctor.agreement import compare
from certiset.service.doctor.finding import Finding


def check_devices(settings: Settings) -> Iterator[Finding]:
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    build = f"PyTorch {torch.__version__}"
    if not gpus:
        yield _without_gpu(settings, build)
        return
    names = ", ".join(torch.cuda.get_device_name(gpu) for gpu in gpus)
    yield Finding("devices", "ok", f"{build} sees {len(gpus)} GPU(s): {names}")
    for gpu in gpus:
        yield check_agreement(gpu)


def _without_gpu(settings: Settings, build: str) -> Finding:
    if settings.device == "cuda":
        advice = "install a driver and a CUDA build of PyTorch, or set it to auto"
        return Finding("devices", "failed", f"CERTISET_DEVICE is cuda, but {build} sees no GPU: {advice}.")
    return Finding("devices", "ok", f"there is no GPU for {build}; fits run on the CPU")


def check_agreement(device: str) -> Finding:
    check = f"agreement of {device}"
    try:
        found = compare(device)
    except (CertisetError, RuntimeError) as error:
        return Finding(check, "failed", f"A small fit on {device} fails: {first_line(error)}")
    message = (
        f"scores differ from the CPU's by {found.scores:.1e}, thresholds by {found.thresholds:.1e}, "
        f"and {found.sets} of {found.rows} sets"
    )
    if found.is_rounding:
        return Finding(check, "ok", message)
    return Finding(check, "failed", f"{message}: more than rounding. Do not serve from it; check driver and PyTorch.")

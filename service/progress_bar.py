"""A calibration's state in one line."""

from core.store.records import Calibration

_WIDTH = 24


def progress_line(record: Calibration) -> str:
    if record.status == "succeeded":
        return f"{record.id}  succeeded  {record.certificate_id}"
    if record.status in ("failed", "cancelled"):
        return f"{record.id}  {record.status}" + (f": {record.error}" if record.error else "")
    waiting = f"  after: {record.error}" if record.error else ""
    if record.status == "queued":
        return f"{record.id}  queued{waiting}"
    if record.cancel_requested:
        return f"{record.id}  running, asked to stop"
    progress = record.progress or {"phase": "start", "fraction": 0.0, "metrics": {}}
    return (
        f"{record.id}  {_bar(progress['fraction'])} {100 * progress['fraction']:3.0f} %  {_details(progress)}".rstrip()
    )


def _bar(fraction: float) -> str:
    full = round(_WIDTH * min(max(fraction, 0.0), 1.0))
    return "[" + "#" * full + "." * (_WIDTH - full) + "]"


def _details(progress: dict[str, object]) -> str:
    metrics = progress.get("metrics")
    values = metrics if isinstance(metrics, dict) else {}
    parts = [str(progress["phase"])]
    if progress.get("steps"):
        parts.append(f"step {progress['step']}/{progress['steps']}")
    if values.get("loss") is not None:
        parts.append(f"loss {values['loss']:.4g}")
    if values.get("kl") is not None and values.get("budget") is not None:
        parts.append(f"KL {values['kl']:.3g} of {values['budget']:.3g} nats")
    return "  ".join(parts)

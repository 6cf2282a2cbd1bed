"""What users upload: checked, stored as files, and entered into the records."""

from core.intake.datasets import add_dataset
from core.intake.models import add_model

__all__ = ["add_dataset", "add_model"]

"""What users ask for, as functions that routes, commands and tests call alike.

Names are loaded on first use: the worker's supervisor reads `messages`, and must stay without torch.
"""

from typing import TYPE_CHECKING

from certiset.core.lazy import lazy_names

if TYPE_CHECKING:
    from certiset.core.jobs.datasets import add_dataset
    from certiset.core.jobs.models import add_model

__all__ = ["add_dataset", "add_model"]

__getattr__ = lazy_names(__name__, {"add_dataset": "datasets", "add_model": "models"})

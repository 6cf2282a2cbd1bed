"""Whether a deployment and the machine that it runs on are fit for service: one check a part, each with its finding."""

from certiset.service.doctor.examination import examine
from certiset.service.doctor.finding import Finding

__all__ = ["Finding", "examine"]

"""The certificate of a predictor: what it promises, from which numbers, and how anyone can check them."""

from core.certificate.certificate import Certificate, Coverage, Efficiency, Member, Provenance, Union
from core.certificate.verification import Check, Verification

__all__ = ["Certificate", "Check", "Coverage", "Efficiency", "Member", "Provenance", "Union", "Verification"]

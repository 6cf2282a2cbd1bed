"""Kinds for targets in the plane, as an operator might bring them."""

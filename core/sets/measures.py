"""In what the size of a set is measured, and what that means for statements about sizes.

An auditor who lacks the package that a set kind came with can still read and check what a certificate says of sizes:
every kind has one of these.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    name: str
    """as certificates state it"""
    unit: str = ""
    """behind a number, in a sentence"""
    is_count: bool = False
    """whether sizes are numbers of labels: they have a largest one by themselves, and none is ever cut"""
    is_power: bool = False
    """whether sizes have the unit of the targets as often as there are targets, and not once"""


MEASURES = {
    measure.name: measure
    for measure in (Measure("labels", " labels", is_count=True), Measure("width"), Measure("volume", is_power=True))
}

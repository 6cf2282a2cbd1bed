"""What every certificate rests on."""

ASSUMPTIONS = [
    "Calibration points and future inputs are drawn independently from one distribution. "
    "After a drift the promise is void.",
    "The prior, the ranks, the weights and the number of draws were fixed before the calibration points were seen.",
    "Coverage is on average over future inputs, not for each single input or group of inputs.",
]

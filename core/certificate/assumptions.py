"""What a certificate rests on, said in full: nothing of it can be read off the numbers."""

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.population import averaging, independence

_OF_THE_DATA = [
    "The model was neither trained on the calibration rows nor chosen by them.",
    "The truths of the calibration rows are true.",
]
_OF_SETTINGS = (
    "The settings were not chosen by the results of other fits on the same rows. The account counts those that are "
    "known."
)
_KEY_OF_TIES = "The seed, from which the key that breaks ties is made, was fixed before the calibration rows were seen."
_OF_ONE_ROW = "The model's output for a row depends on that row alone."


def assumptions_of(certificate: CertificateContent) -> list[str]:
    """The assumptions that go with the rest of the certificate."""
    known = certificate.model is not None and certificate.model.rows in ("proved", "one_by_one")
    return [
        independence(certificate),
        *_OF_THE_DATA,
        guarantee_of(certificate.coverage).fixed_beforehand,
        _OF_SETTINGS,
        *([_KEY_OF_TIES] if any(member.tie is not None for member in certificate.members) else []),
        *([] if known else [_OF_ONE_ROW]),
        averaging(certificate),
    ]

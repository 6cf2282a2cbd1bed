"""The member that is served where one alone is."""

from certiset.core.certificate.certificate import Certificate


def best_member(certificate: Certificate) -> int:
    """The smallest certified size, or the smallest size seen where none is certified."""

    def cost(place: int) -> tuple[float, int]:
        member = certificate.members[place]
        size = member.efficiency_bound if member.efficiency_bound is not None else member.efficiency_empirical
        return (size if size is not None else float("inf"), place)

    return min(range(len(certificate.members)), key=cost)

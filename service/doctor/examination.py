"""All checks, in the order in which a deployment is built: settings, state, keys, machine, devices."""

from collections.abc import Iterator, Mapping

from certiset.core.settings import Settings
from certiset.service.doctor.deployment import check_deployment
from certiset.service.doctor.devices import check_devices
from certiset.service.doctor.environment import check_environment
from certiset.service.doctor.finding import Finding
from certiset.service.doctor.kernel import check_kernel
from certiset.service.doctor.key_files import check_key_files
from certiset.service.doctor.limits import check_limits


def examine(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Findings one by one, as they are made; nothing that is wrong with the deployment is raised."""
    yield from check_environment(environment)
    yield from check_deployment(settings)
    yield from check_key_files(settings, environment)
    yield from check_limits(settings)
    yield from check_kernel()
    yield from check_devices(settings)

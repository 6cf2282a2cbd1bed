"""The Kubernetes manifests: valid by the schemas of current versions, and true to the settings and the image."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from certiset.core.settings import PREFIX, Settings
from certiset.service.cli.main import build_parser
from tests.system.containers.files import ROOT, compose, dockerfile, filled

FOLDER = ROOT / "deploy" / "kubernetes"
VERSIONS = ("1.31", kubernetes_validate.latest_version())


def documents_of(file: Path) -> list[Any]:
    """Read as Kubernetes does, by YAML 1.1: 0440 is a mode."""
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    return [document for document in yaml.load_all(file) if document is not None]


DOCUMENTS = [
    (f"{file.stem}-{number}", document)
    for file in sorted(FOLDER.glob("*.yaml"))
    if file.name != "kustomization.yaml"
    for number, document in enumerate(documents_of(file))
]
PODS = {
    document["metadata"]["name"]: document["spec"]["template"]["spec"]
    for _, document in DOCUMENTS
    if document["kind"] in ("Deployment", "Job")
}


def of_kind(kind: str) -> dict[str, Any]:
    return {document["metadata"]["name"]: document for _, document in DOCUMENTS if document["kind"] == kind}


def container_of(pod: Any) -> Any:
    (container,) = pod["containers"]
    return container


def environment_of(pod: Any) -> dict[str, str]:
    container = container_of(pod)
    configured = of_kind("ConfigMap")["certiset"]["data"] if "envFrom" in container else {}
    return {**configured, **{entry["name"]: entry["value"] for entry in container.get("env", [])}}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=[name for name, _ in DOCUMENTS])
def test_every_document_is_valid(name: str, document: Any, version: str) -> None:
    kubernetes_validate.validate(document, version, strict=True)


def test_a_misspelt_field_is_noticed() -> None:
    document = json.loads(json.dumps(of_kind("Deployment")["api"]))
    document["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, VERSIONS[-1], strict=True)


def test_there_is_everything_that_a_cluster_needs() -> None:
    kinds = {document["kind"] for _, document in DOCUMENTS}
    assert kinds == {
        "ConfigMap",
        "Deployment",
        "HorizontalPodAutoscaler",
        "Job",
        "Namespace",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Secret",
        "Service",
        "ServiceAccount",
    }
    assert set(PODS) == {"api", "worker", "worker-gpu", "migrate"}


def test_everything_is_in_the_namespace_and_kustomize_knows_it() -> None:
    for _, document in DOCUMENTS:
        assert document["metadata"].get("namespace", "certiset") == "certiset"
    (kustomization,) = documents_of(FOLDER / "kustomization.yaml")
    files = {file.name for file in FOLDER.glob("*.yaml")}
    assert set(kustomization["resources"]) == files - {"kustomization.yaml", "secrets.example.yaml", "worker-gpu.yaml"}


def test_every_setting_exists() -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", " ".join(file.read_text() for file in FOLDER.glob("*.yaml"))))
    assert named
    assert named <= Settings.variables()


@pytest.mark.parametrize("name", PODS)
def test_images_commands_and_ports_are_the_dockerfiles(name: str) -> None:
    container = container_of(PODS[name])
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert container["image"] == f"certiset:{version}" + ("-cuda" if name == "worker-gpu" else "")
    command = build_parser(container["args"]).parse_args(container["args"])
    if name == "api":
        (exposed,) = (i.text for i in dockerfile() if i.name == "EXPOSE")
        (port,) = container["ports"]
        assert str(port["containerPort"]) == exposed == str(command.port)
        for probe, path in {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}.items():
            assert container[f"{probe}Probe"]["httpGet"] == {"path": path, "port": port["name"]}
        (served,) = of_kind("Service")["api"]["spec"]["ports"]
        assert served["targetPort"] == port["name"]
    if name.startswith("worker"):
        _, *check = filled(compose(), {})["services"]["worker"]["healthcheck"]["test"]
        assert container["livenessProbe"]["exec"]["command"] == check


@pytest.mark.parametrize("name", PODS)
def test_pods_may_do_as_little_as_possible(name: str) -> None:
    pod = PODS[name]
    (user,) = (i.text for i in dockerfile() if i.name == "USER")
    uid, gid = map(int, user.split(":"))
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": uid,
        "runAsGroup": gid,
        "fsGroup": gid,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    container = container_of(pod)
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory"} <= set(container["resources"]["requests"])
    assert {"cpu", "memory", "ephemeral-storage"} <= set(container["resources"]["limits"])


@pytest.mark.parametrize("name", PODS)
def test_secrets_are_files_that_exist_and_their_group_can_read(name: str) -> None:
    pod = PODS[name]
    container, volumes = container_of(pod), {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    assert set(mounts) == set(volumes)
    assert "secretKeyRef" not in json.dumps(pod)
    volume = volumes["secrets"].get("secret") or volumes["secrets"]["projected"]
    assert volume["defaultMode"] == 0o440
    given = [volume["secretName"]] if "secretName" in volume else [s["secret"]["name"] for s in volume["sources"]]
    files = {f"{mounts['secrets']['mountPath']}/{key}" for one in given for key in of_kind("Secret")[one]["stringData"]}
    environment = environment_of(pod)
    assert {value for variable, value in environment.items() if variable.endswith("_FILE")} == files
    assert not {"CERTISET_DATABASE_URL", "CERTISET_BROKER_URL", "CERTISET_API_KEYS"} & set(environment)
    written = {environment["CERTISET_HOME"], environment["TMPDIR"]}
    assert written <= {mount["mountPath"] for key, mount in mounts.items() if "emptyDir" in volumes[key]}


def test_only_a_migration_has_no_keys() -> None:
    assert "certiset-keys" not in json.dumps(PODS["migrate"])
    assert all("REPLACE" in value for one in of_kind("Secret").values() for value in one["stringData"].values())


def test_gpus_are_for_their_own_workers() -> None:
    for name, pod in PODS.items():
        limits = container_of(pod)["resources"]["limits"]
        assert limits.get("nvidia.com/gpu") == (1 if name == "worker-gpu" else None)
        assert ("nodeSelector" in pod) == (name == "worker-gpu")
    assert Settings.from_environment({"CERTISET_DEVICE": environment_of(PODS["worker-gpu"])["CERTISET_DEVICE"]})


def test_selectors_find_one_deployment_each() -> None:
    deployments = of_kind("Deployment")
    labels = {name: one["spec"]["template"]["metadata"]["labels"] for name, one in deployments.items()}
    for name, one in deployments.items():
        assert one["spec"]["selector"]["matchLabels"] == labels[name]
    assert len({json.dumps(label) for label in labels.values()}) == len(deployments)
    assert of_kind("Service")["api"]["spec"]["selector"] == labels["api"]
    assert of_kind("PodDisruptionBudget")["api"]["spec"]["selector"]["matchLabels"] == labels["api"]
    scaled = of_kind("HorizontalPodAutoscaler")["api"]["spec"]
    assert scaled["scaleTargetRef"]["name"] == "api"
    assert "replicas" not in deployments["api"]["spec"], "the autoscaler decides"
    assert scaled["minReplicas"] > of_kind("PodDisruptionBudget")["api"]["spec"]["minAvailable"]


def test_the_network_is_closed_but_for_what_is_named() -> None:
    policies = of_kind("NetworkPolicy")
    nothing = policies["nothing"]["spec"]
    assert (nothing["podSelector"], nothing["policyTypes"]) == ({}, ["Ingress", "Egress"])
    assert not {"ingress", "egress"} & set(nothing)
    specs = [policy["spec"] for policy in policies.values()]
    open_to = [spec["podSelector"]["matchLabels"] for spec in specs if "ingress" in spec]
    assert [labels["app.kubernetes.io/component"] for labels in open_to] == ["api"]
    rules = [rule for spec in specs for rule in spec.get("egress", [])]
    assert all(rule["to"] for rule in rules)
    assert {port["port"] for rule in rules for port in rule["ports"]} == {53, 5432, 6379, 443}

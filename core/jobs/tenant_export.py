"""Everything of one tenant in one .zip: records as JSON lines, artifacts, and certificates byte for byte.

Keys are named and never contained: neither they nor their digests leave the database.
"""

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

from certiset.core.errors import DamagedFileError, NotFoundError
from certiset.core.store.store import Store
from certiset.core.store.tenant_records import TABLES
from certiset.core.whole_file import written_whole


@dataclass(frozen=True)
class Exported:
    tenant: str
    records: dict[str, int]
    """how many of each kind"""
    artifacts: int
    damaged: tuple[str, ...]
    """artifacts that are missing, or not what was written"""
    format: int = 1


def export_tenant(store: Store, tenant: str, file: Path) -> Exported:
    """Writes the file, which appears whole or not at all."""
    with store.reading() as work:
        if tenant not in work.tenants.names():
            raise NotFoundError(f"There is no tenant {tenant}.")
    with (
        written_whole(file) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive,
    ):
        exported = _write(store, tenant, archive)
        archive.writestr("tenant.json", json.dumps(asdict(exported), indent=1))
    return exported


def _write(store: Store, tenant: str, archive: zipfile.ZipFile) -> Exported:
    records = {}
    for table in TABLES:
        with store.reading() as work, archive.open(f"records/{table}.jsonl", "w", force_zip64=True) as lines:
            records[table] = 0
            for row in work.tenant_records.rows(tenant, table):
                lines.write(json.dumps(row).encode() + b"\n")
                records[table] += 1
    with store.reading() as work:
        for row in work.tenant_records.rows(tenant, "certificates"):
            archive.writestr(f"certificates/{row['id']}.json", row["document"])
        names = sorted(work.tenant_records.artifacts(tenant))
    damaged = []
    for name in names:
        try:
            with archive.open(f"artifacts/{name}", "w", force_zip64=True) as copy:
                for piece in store.artifacts.pieces(name):
                    copy.write(piece)
        except DamagedFileError:
            damaged.append(name)
    return Exported(tenant, records, len(names), tuple(damaged))

"""The audit log, to which rows can only be added, and the scope operator for the keys that were everybody's admin.

Until now a key with the scope admin read the metrics of all tenants. Keys of the tenant ``default``, which is the
operator's own, keep that as operators; an admin of another tenant is that tenant's alone.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_keys = sa.table("api_keys", sa.column("id", sa.String), sa.column("tenant", sa.String), sa.column("scopes", _json))

_POSTGRESQL = (
    """
    create function certiset_audit_is_append_only() returns trigger language plpgsql as $$
    begin
        if tg_op = 'DELETE' then
            if exists (
                select 1 from audit
                where audit.tenant = old.tenant and audit.action = 'tenant.erase' and audit.id > old.id
            ) then
                return old;
            end if;
        end if;
        raise exception 'The audit log is append-only.';
    end $$
    """,
    """
    create trigger audit_rows_stay before update or delete on audit
    for each row execute function certiset_audit_is_append_only()
    """,
    """
    create trigger audit_stays before truncate on audit
    for each statement execute function certiset_audit_is_append_only()
    """,
)
_SQLITE = (
    """
    create trigger audit_no_update before update on audit
    begin select raise(abort, 'The audit log is append-only.'); end
    """,
    # A row that replaces another of the same id would be a change.
    """
    create trigger audit_no_replace before insert on audit
    when exists (select 1 from audit where audit.id = new.id)
    begin select raise(abort, 'The audit log is append-only.'); end
    """,
    """
    create trigger audit_no_delete before delete on audit
    when not exists (
        select 1 from audit
        where audit.tenant = old.tenant and audit.action = 'tenant.erase' and audit.id > old.id
    )
    begin select raise(abort, 'The audit log is append-only.'); end
    """,
)


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("result", sa.String(length=20), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("code", sa.String(length=64), nullable=True),
        sa.Column("tenant", sa.String(length=64), nullable=True),
        sa.Column("key_id", sa.String(length=64), nullable=True),
        sa.Column("user", sa.String(length=64), nullable=True),
        sa.Column("address", sa.String(length=64), nullable=True),
        sa.Column("object_kind", sa.String(length=20), nullable=True),
        sa.Column("object_id", sa.String(length=64), nullable=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.Double(), nullable=True),
        sa.Column("details", _json, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_tenant_id"), "audit", ["tenant", "id"])
    op.create_index(op.f("ix_audit_object_id"), "audit", ["object_id"])
    op.create_index(op.f("ix_audit_at"), "audit", ["at"])
    connection = op.get_bind()
    for statement in _POSTGRESQL if connection.dialect.name == "postgresql" else _SQLITE:
        op.execute(statement)
    columns = _keys.c
    of_default = sa.select(columns.id, columns.scopes).where(columns.tenant == "default")
    for id, scopes in connection.execute(of_default).all():
        if "admin" in scopes and "operator" not in scopes:
            connection.execute(_keys.update().where(columns.id == id).values(scopes=[*scopes, "operator"]))

-- Servers and who may wake them (docs/reference/data.md#database). owner_id names an account of identity: no key across schemas.
create table servers (
  name text primary key,
  owner_id text,
  claimed_at timestamptz,
  last_active_at timestamptz not null default now(),
  warned_3d_at timestamptz,
  warned_1d_at timestamptz,
  cached_phase text,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  cached_cpu_milli int not null default 0,
  cached_memory_mb int not null default 0,
  cached_storage_mb int not null default 0,
  retire_requested_at timestamptz,
  retire_delete boolean not null default false,
  -- When it was last woken; shared by all replicas for the cooldown.
  last_wake_at timestamptz
);
create index servers_owner on servers (owner_id) where owner_id is not null;

create table server_aliases (
  subdomain text primary key,
  server_name text not null references servers (name) on delete cascade
);
create index server_aliases_server on server_aliases (server_name);

create table server_allowlist (
  server_name text not null references servers (name) on delete cascade,
  mc_uuid uuid not null,
  added_at timestamptz not null default now(),
  revoked_at timestamptz,
  primary key (server_name, mc_uuid)
);

-- What claims, give-ups, menus and account migrations ask for (docs/reference/claims.md#retirement, docs/reference/claims.md#own).
create index servers_claimable on servers (name)
  where owner_id is null and retire_requested_at is null and deleted_at is null;
create index servers_retiring on servers (name) where retire_requested_at is not null;
create index server_allowlist_player on server_allowlist (mc_uuid) where revoked_at is null;

-- Account migrations that moved servers: a repeat gives the first answer.
create table account_transfers (
  transfer_id text primary key,
  from_user_id text not null,
  to_user_id text not null,
  servers text[] not null,
  transferred_at timestamptz not null default now()
);

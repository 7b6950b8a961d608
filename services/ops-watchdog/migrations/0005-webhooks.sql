-- Webhooks and their deliveries (docs/reference/webhooks.md). Addresses and secrets are kept as they are: they are needed for
-- each attempt. Only the role of this schema reads them.
create table webhooks (
  id text primary key,
  -- Null: of the installation.
  server_name text,
  -- Whose server it was then; a webhook of somebody else's server counts for nothing.
  owner_id text,
  label text not null,
  format text not null check (format in ('json', 'discord', 'slack')),
  url text not null,
  host text not null,
  language text not null,
  events text[] not null,
  secret text,
  old_secret text,
  old_secret_until timestamptz,
  enabled boolean not null default true,
  off_reason text,
  -- Who saved it last, and the user name by then.
  saved_by text not null,
  saved_by_name text not null,
  created_at timestamptz not null default now(),
  -- Since when no attempt has arrived; null after one that did.
  failing_since timestamptz,
  last_attempt_at timestamptz,
  last_attempt_ok boolean,
  last_attempt_status int,
  -- Of the newest alert that was queued, or passed by.
  alerts_until timestamptz,
  -- The owner is to be told that it was switched off.
  notice_due_at timestamptz,
  notice_attempts int not null default 0,
  check ((server_name is null) = (owner_id is null))
);
create index webhooks_server on webhooks (server_name);

create table webhook_deliveries (
  id text primary key,
  -- Order of deliveries.
  number bigint generated always as identity,
  webhook_id text not null references webhooks (id) on delete cascade,
  event_id text not null,
  type text not null,
  server_name text,
  -- What waits for what was before it: the server, or nothing for pings.
  lane text not null,
  -- What happened, as the format `json` says it.
  data jsonb not null,
  at timestamptz not null,
  created_at timestamptz not null default now(),
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dead', 'dropped')),
  attempts int not null default 0,
  due_at timestamptz not null default now(),
  -- The attempt that is being made, and until when no other may be.
  lease text,
  lease_until timestamptz,
  attempted_at timestamptz,
  finished_at timestamptz,
  status int,
  error text,
  response text,
  duration_ms int,
  unique (webhook_id, event_id)
);
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, lane, number) where state = 'waiting';
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, number desc);

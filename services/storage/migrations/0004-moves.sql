-- The right of one Job to send one archive to the archive folder, or to fetch one from it, once (docs/reference/moves.md#steps).
create table archive_tickets (
  id text primary key,
  kind text not null check (kind in ('put', 'get')),
  job text not null,
  -- File name in the archive folder.
  archive text not null,
  token_hash text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- The receipt of a sent archive: it is in its place, synced and read back.
  received_at timestamptz,
  size_bytes bigint,
  sha256 text
);
create index archive_tickets_of_job on archive_tickets (job);
create unique index archive_tickets_one_receipt on archive_tickets (job) where received_at is not null;

-- Somebody gave the move up. Its Jobs, its new volume and its lock go, in this order; then it is `abandoned`.
alter table world_migrations add column cancelled_at timestamptz;
alter table world_migrations add column cancelled_by text;
create index world_migrations_cancelled on world_migrations (cancelled_at)
  where cancelled_at is not null and not abandoned;

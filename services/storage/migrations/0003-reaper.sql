-- (Number 0003: storage keeps uploads in buckets, so there is no migration of theirs.)
-- One pass of the daily batch; the newest ones tell how it goes (docs/reference/reaper.md#order).
create table reaper_runs (
  id text primary key,
  state text not null default 'running' check (state in ('running', 'succeeded', 'failed')),
  retention_only boolean not null default false,
  started_by text not null,
  -- Runs that died before this one without coming to an end.
  attempt int not null default 1,
  summary jsonb not null default '{}',
  notes jsonb not null default '[]',
  message text not null default '',
  started_at timestamptz not null default now(),
  -- A run that was silent for too long has died with its process.
  heartbeat_at timestamptz not null default now(),
  finished_at timestamptz
);
create unique index reaper_runs_one_at_a_time on reaper_runs ((true)) where state = 'running';
create index reaper_runs_newest on reaper_runs (started_at desc);

-- Moves of worlds between nodes (docs/reference/moves.md#steps).
create table world_migrations (
  id text primary key,
  server_name text not null,
  state text not null check (state in ('backing_up', 'restoring', 'switching', 'succeeded', 'failed')),
  -- The state it is in or, when it failed, the one it goes on with.
  stage text not null,
  source_node text not null,
  target_node text not null,
  source_claim text not null,
  source_claim_uid text not null,
  target_claim text not null,
  -- Exactly what the lock annotation of the server says while this is under way.
  lock text not null,
  -- Null until the lock is known to be there; without it nothing was begun.
  locked_at timestamptz,
  owner_id text,
  started_by text not null,
  backup_id text references world_backups,
  switched boolean not null default false,
  attempt int not null default 1,
  error text not null default '',
  -- A failed move whose lock somebody took away by hand: nobody goes on with it.
  abandoned boolean not null default false,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index world_migrations_of_server on world_migrations (server_name, started_at desc);
create unique index world_migrations_one_at_a_time on world_migrations (server_name)
  where state <> 'succeeded' and not abandoned;
create index world_migrations_open on world_migrations (updated_at)
  where state in ('backing_up', 'restoring', 'switching');

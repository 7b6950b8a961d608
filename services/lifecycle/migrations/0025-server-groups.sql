-- Servers of one account that start and stop together, in an order (docs/reference/groups.md).
create table server_groups (
  id text primary key,
  account_id text not null,
  name text not null,
  stage_seconds integer not null,
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  unique (account_id, name)
);

create table server_group_members (
  group_id text not null references server_groups (id) on delete cascade,
  server_name text not null,
  stage smallint not null,
  place smallint not null,
  -- Whose the server was when it was added, and since when: one that changed its owner has left the group.
  owner_id text,
  claimed_at timestamptz,
  primary key (group_id, server_name)
);

-- The run under way, or the last one.
create table server_group_runs (
  group_id text primary key references server_groups (id) on delete cascade,
  id text not null,
  direction text not null check (direction in ('start', 'stop')),
  state text not null check (state in ('running', 'done', 'failed', 'cancelled')),
  cancelling boolean not null default false,
  -- Counts the writes: whoever goes on compares and sets it.
  revision integer not null,
  stage smallint not null,
  stage_until timestamptz(3) not null,
  stage_seconds integer not null,
  -- Each server with its result, by stage, in the order of the run.
  stages jsonb not null,
  started_by text not null,
  request_id text not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create index server_group_runs_open on server_group_runs (group_id) where state = 'running';

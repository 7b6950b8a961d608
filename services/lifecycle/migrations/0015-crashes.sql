-- Ends of servers that nobody asked for (docs/reference/crashes.md#keeping): the newest 20 of each, for 30 days.
create table server_crashes (
  id uuid primary key,
  server_name text not null references servers (name) on delete cascade,
  -- The pod and its container: whoever sees the end of a run again writes nothing.
  run text not null,
  at timestamptz not null,
  cause text not null,
  detail text,
  exit_code int,
  exit_reason text,
  ran_seconds int not null,
  was_running boolean not null,
  memory_mib int,
  memory_limit_mib int,
  -- At most 200, with 32 KiB together.
  lines text[] not null,
  unique (server_name, run)
);
create index server_crashes_newest on server_crashes (server_name, at desc);

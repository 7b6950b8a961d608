-- Scheduled tasks of servers (docs/reference/data.md#database, docs/reference/schedules.md#run). Times are kept in milliseconds, as the service compares them.
create table server_schedules (
  id bigserial primary key,
  server_name text not null references servers (name) on delete cascade,
  -- Owner of the server when the task was saved: a task of a former owner does not run.
  owner_id text,
  label text not null default '',
  action text not null check (action in ('command', 'restart', 'stop', 'start', 'backup')),
  command text not null default '',
  every_minutes smallint not null default 0,
  minute_of_day smallint not null default 0 check (minute_of_day between 0 and 1439),
  weekdays smallint not null default 127 check (weekdays between 1 and 127),
  timezone text not null,
  warn_minutes smallint not null default 0,
  enabled boolean not null default true,
  next_run_at timestamptz(3),
  -- The next_run_at that players were warned of.
  warned_for timestamptz(3),
  run_state text not null default '',
  -- Whether the run starts the server again when it is through.
  run_resume boolean not null default false,
  run_step_at timestamptz(3),
  -- The job of storage that the run waits for.
  run_job text not null default '',
  last_run_at timestamptz(3),
  last_result text not null default '',
  last_detail text not null default '',
  created_by text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (run_state = '' or run_step_at is not null),
  check (not enabled or next_run_at is not null)
);
create index server_schedules_server on server_schedules (server_name, id);
-- A look for work reads only what there is to do, however many tasks are enabled: what is due, what players are to be
-- warned of, and what runs.
create index server_schedules_due on server_schedules (next_run_at) where enabled and run_state = '';
create index server_schedules_warning on server_schedules (warn_minutes, next_run_at)
  where enabled and run_state = '' and warn_minutes > 0 and warned_for is distinct from next_run_at;
create index server_schedules_running on server_schedules (id) where run_state <> '';

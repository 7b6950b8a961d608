-- Tasks that run when something happens (docs/reference/schedules.md#triggers).
alter table server_schedules add column trigger text not null default '';
-- How long the server has to be empty.
alter table server_schedules add column trigger_minutes smallint not null default 0;
alter table server_schedules add column pause_minutes smallint not null default 0;
-- What the last run was begun for, with the tasks that may have brought it about.
alter table server_schedules add column last_trigger jsonb;
-- When the trigger last began a run.
alter table server_schedules add column last_fired_at timestamptz(3);
alter table server_schedules add column run_ended_at timestamptz(3);
-- Builds before this run by next_run_at: such a task is never due, and they cannot save it as one of the clock.
-- contract: it holds only of tasks with a trigger, which those builds do not make
alter table server_schedules add constraint server_schedules_no_time
  check (trigger = '' or not enabled or next_run_at = '9999-12-31T00:00:00Z');
create index server_schedules_triggered on server_schedules (trigger, server_name) where enabled and trigger <> '';

-- What happened that tasks wait for: a row for each task, whatever becomes of it.
create table trigger_events (
  schedule_id bigint not null references server_schedules (id) on delete cascade,
  -- What it was: whoever sees it again writes nothing.
  event text not null,
  trigger text not null,
  happened_at timestamptz(3) not null,
  about text not null default '',
  due_at timestamptz(3) not null,
  -- The tasks whose runs may have brought it about.
  causes jsonb not null default '[]',
  outcome text not null default 'waiting'
    check (outcome in ('waiting', 'ran', 'missed', 'cancelled', 'paused', 'caused_by_itself')),
  primary key (schedule_id, event)
);
create index trigger_events_waiting on trigger_events (due_at) where outcome = 'waiting';
create index trigger_events_newest on trigger_events (schedule_id, happened_at desc);

-- Whether somebody is on the servers that have tasks which wait for that.
create table server_presence (
  server_name text primary key references servers (name) on delete cascade,
  is_empty boolean not null,
  -- When it was seen to become so.
  changed_at timestamptz(3) not null,
  -- When it was looked at last.
  looked_at timestamptz(3) not null
);

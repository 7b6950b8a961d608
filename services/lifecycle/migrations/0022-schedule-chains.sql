-- Tasks of several steps, and conditions of steps (docs/reference/schedules.md#chains).
alter table server_schedules add column only_if text not null default '';
-- The steps behind the first, which is the task's own action.
alter table server_schedules add column next_steps jsonb not null default '[]';
-- The step that the run is at; 0 is the task's own action.
alter table server_schedules add column run_step smallint not null default 0;
-- Of a claimed run: it waits for that step, which is due at run_step_at.
alter table server_schedules add column run_waits boolean not null default false;
-- How the steps of a chain ended in this run or the last one.
alter table server_schedules add column step_endings jsonb not null default '[]';
-- What the detail of a run says, where last_code does not: builds before chains do not know these values.
alter table server_schedules add column chain_code text not null default '';
-- Whose access ended in the middle of a run begins no further step of it.
alter table server_schedules add column run_revoked boolean not null default false;
-- When the last run began that went well.
alter table server_schedules add column last_ok_at timestamptz(3);

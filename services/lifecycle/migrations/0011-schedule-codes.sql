-- What the detail of a run says, for machines, and the fault behind it.
alter table lifecycle.server_schedules add column last_code text not null default '';
alter table lifecycle.server_schedules add column last_cause text not null default '';

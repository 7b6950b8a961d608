-- Passes over the off-site bucket. A row is made when a pass begins; its beat says that the process still lives.
create table offsite_passes (
  id bigint generated always as identity primary key,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now(),
  finished_at timestamptz,
  state text not null default 'running'
    check (state in ('running', 'completed', 'incomplete', 'failed', 'standby', 'wrong_key')),
  progress jsonb,
  report jsonb not null default '{}'
);
create index offsite_passes_completed on offsite_passes (id desc) where state = 'completed';

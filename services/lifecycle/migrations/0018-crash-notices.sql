-- Mails to owners about crashes after which their server does not run (docs/reference/crashes.md#mail). A row that is done says
-- that there was one lately.
create table crash_notices (
  -- The report.
  id uuid primary key,
  server_name text not null references servers (name) on delete cascade,
  owner_id text not null,
  kind text not null check (kind in ('stopped', 'looping', 'left')),
  cause text not null,
  at timestamptz not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  attempts int not null default 0,
  done_at timestamptz
);
create unique index crash_notices_waiting on crash_notices (server_name) where done_at is null;
create index crash_notices_newest on crash_notices (server_name, created_at desc);

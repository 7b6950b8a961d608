-- What servers did over the last 30 days (docs/reference/history.md). A row holds the sums and counts of one step, so that
-- steps are merged by adding them; a count of 0 is a gap.
create table server_history (
  server_name text not null references servers (name) on delete cascade,
  -- Begin of the step.
  at timestamptz not null,
  step_minutes smallint not null,
  players_count smallint not null,
  players_sum int not null,
  players_max int not null,
  memory_mib_sum int not null,
  cpu_milli_sum int not null,
  tps_sum real not null,
  usage_count smallint not null,
  tps_count smallint not null,
  primary key (server_name, at)
);

create table server_phases (
  server_name text not null references servers (name) on delete cascade,
  at timestamptz not null,
  phase text not null,
  -- A start from rest.
  is_wake boolean not null,
  -- How long a successful start took.
  start_seconds real,
  primary key (server_name, at)
);
create index server_phases_starts on server_phases (at) where is_wake or start_seconds is not null;
-- What is known of the servers that are there already.
insert into server_phases (server_name, at, phase, is_wake)
  select name, now(), cached_phase, false from servers where cached_phase is not null and deleted_at is null;

create table platform_history (
  at timestamptz primary key,
  step_minutes smallint not null,
  samples smallint not null,
  awake_sum int not null,
  players_sum int not null,
  players_max int not null
);

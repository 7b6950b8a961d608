-- The maintenance window; one row, both ends or none.
create table update_window (
  id boolean primary key default true check (id),
  starts_at timestamptz,
  ends_at timestamptz,
  updated_at timestamptz not null default now(),
  check ((starts_at is null) = (ends_at is null) and ends_at > starts_at)
);

create table update_reports (
  id bigint generated always as identity primary key,
  checked_at timestamptz not null,
  version text not null,
  components jsonb not null
);
create index update_reports_checked_at on update_reports (checked_at desc);

-- What is known of the bundles in the folder; the files are the truth, rows follow them.
create table database_bundles (
  name text primary key,
  label text not null,
  taken_at timestamptz not null,
  size_bytes bigint not null,
  version text not null,
  schema_version int not null,
  dir text not null,
  servers_error text,
  damage text
);
create index database_bundles_taken_at on database_bundles (taken_at desc);

create table rehearsals (
  id bigint generated always as identity primary key,
  bundle text not null,
  started_at timestamptz not null,
  duration_ms bigint not null,
  row_count bigint not null,
  error text
);

-- A restore is unfinished from the commit of its rows until streams, views and roles follow.
create table restores (
  id bigint generated always as identity primary key,
  bundle text not null,
  loaded_at timestamptz not null default now(),
  finished_at timestamptz
);

-- Whose status everybody may read (docs/reference/status-pages.md).
create table status_pages (
  server_name text primary key references servers (name) on delete cascade,
  -- Whose the server was: once it is somebody else's, nothing of it is shown.
  owner_id text,
  since timestamptz(3) not null,
  shown_by text not null
);

-- Minutes of days in UTC; what was not looked at is not known.
create table status_days (
  server_name text not null references status_pages (server_name) on delete cascade,
  day date not null,
  known_minutes smallint not null,
  down_minutes smallint not null,
  planned_minutes smallint not null,
  -- The newest minute that was counted: whoever comes twice counts it once.
  counted_to timestamptz not null,
  primary key (server_name, day)
);

-- One row while staff show the page of the installation.
create table status_overview (
  id boolean primary key default true check (id),
  since timestamptz(3) not null,
  shown_by text not null
);

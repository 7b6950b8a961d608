-- What staff announce, and maintenance windows in which nothing is woken (docs/reference/announcements.md).
create table announcements (
  id text primary key,
  text_en text not null,
  text_zh text,
  severity text not null check (severity in ('info', 'warning')),
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  maintenance boolean not null,
  public boolean not null,
  -- Somebody ended it before its time, or before it began.
  ended_at timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null,
  changed_by text,
  changed_at timestamptz(3),
  check (starts_at < ends_at)
);
create index announcements_open on announcements (ends_at) where ended_at is null;

-- That the players of a server are told is recorded before they are: at most once, whatever replica dies.
create table announcement_deliveries (
  announcement_id text not null references announcements (id) on delete cascade,
  server_name text not null,
  -- Minutes before the begin; 0 is the begin itself.
  minutes smallint not null,
  -- A window that is moved counts down anew.
  due_at timestamptz(3) not null,
  told_at timestamptz(3) not null default now(),
  primary key (announcement_id, server_name, minutes, due_at)
);

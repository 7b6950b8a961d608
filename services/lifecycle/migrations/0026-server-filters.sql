-- What accounts look for in their lists of servers (docs/reference/server-filters.md).
create table server_filters (
  id text primary key,
  account_id text not null,
  name text not null,
  search text not null,
  -- Empty for all servers.
  show text not null,
  tag text not null,
  node text not null,
  sort text not null,
  saved_at timestamptz(3) not null,
  unique (account_id, name)
);

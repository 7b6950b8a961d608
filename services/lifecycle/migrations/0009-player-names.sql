-- The name that a player had at the last join, so that people read names and not UUIDs.
create table player_names (
  mc_uuid uuid primary key,
  name text not null,
  seen_at timestamptz not null
);

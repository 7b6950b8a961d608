-- Who was on which server, how long and when, and what owners note about them (docs/reference/players.md).
create table known_players (
  server_name text not null,
  mc_uuid uuid not null,
  -- At the last visit.
  name text not null,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  played_ms bigint not null,
  visits int not null,
  -- The visit that was counted last, and how much of it.
  visit_proxy text not null,
  visit_number bigint not null,
  visit_ms bigint not null,
  primary key (server_name, mc_uuid)
) with (fillfactor = 80);
create index known_players_player on known_players (mc_uuid);

create table player_notes (
  id text primary key,
  server_name text not null,
  mc_uuid uuid not null,
  text text not null,
  author text not null,
  at timestamptz(3) not null,
  foreign key (server_name, mc_uuid) references known_players on delete cascade
);
create index player_notes_player on player_notes (server_name, mc_uuid);

-- Nothing of a visit from before this is counted again.
create table player_erasures (
  mc_uuid uuid primary key,
  erased_at timestamptz(3) not null,
  -- By proxy the number of the last visit that was erased and how much of it was counted, but not where it was.
  visits jsonb not null default '{}'
);

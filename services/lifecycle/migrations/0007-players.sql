-- Who plays where: what each proxy said last. It is nothing worth keeping, so it is not logged: after a crash of the
-- database every proxy says it anew within seconds.
create unlogged table proxy_players (
  proxy text primary key,
  -- Objects of mc_uuid, name, session, server and since.
  players jsonb not null,
  seen_at timestamptz not null
);

-- Invitations to players of another proxy, until that proxy reports.
create unlogged table player_invitations (
  id text primary key,
  from_uuid uuid not null,
  from_name text not null,
  to_uuid uuid not null,
  server_name text not null,
  expires_at timestamptz not null
);
create index player_invitations_to on player_invitations (to_uuid);

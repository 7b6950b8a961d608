-- The version of the game with which a player came last, so that a new server gets one that most players have
-- (docs/reference/images.md#versions). Rows of players who have not come for seven days are deleted.
create table player_versions (
  mc_uuid uuid primary key,
  protocol int not null,
  -- Day of the last login, UTC.
  seen_on date not null
);
create index player_versions_seen on player_versions (seen_on);

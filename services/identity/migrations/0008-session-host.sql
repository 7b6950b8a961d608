-- The host a session was minted on; it counts there and nowhere else. Those that are there came in before hosts were
-- told apart: they count for players, so staff sign in again on the operator console.
create type session_host as enum ('player', 'operator');
alter table sessions add column host session_host not null default 'player';

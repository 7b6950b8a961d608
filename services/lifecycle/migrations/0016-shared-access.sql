-- Whom the owner of a server shares it with (docs/reference/shared-access.md#rights): one entry for each member, in the row
-- that says who the owner is, so that both are read and changed together.
alter table servers add column members jsonb not null default '[]';
create index servers_members on servers using gin (members jsonb_path_ops) where members <> '[]';
create index servers_shared on servers (name) where members <> '[]';

-- The account that saved a task last, if it was not the owner; its tasks are switched off when its access ends.
alter table server_schedules add column saved_by text;

create table access_invitations (
  id text primary key,
  server_name text not null references servers (name) on delete cascade,
  -- Whose server it was: nobody can accept the invitation once another account owns it.
  owner_id text not null,
  kind text not null check (kind in ('link', 'mail', 'player')),
  -- SHA-256 of the secret of a link, hex.
  secret_hash text unique,
  -- As it is compared: A to Z in lower case.
  email text,
  mc_uuid uuid,
  player_name text,
  -- Rights, limits and end.
  offered jsonb not null,
  invited_by text not null,
  inviter_name text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  outcome text check (outcome in ('accepted', 'declined', 'revoked')),
  accepted_by text,
  -- The entry of `members` that it became.
  member_id text,
  check ((ended_at is null) = (outcome is null)),
  check ((kind = 'link') = (secret_hash is not null)),
  check ((kind = 'mail') = (email is not null)),
  check ((kind = 'player') = (mc_uuid is not null))
);
create index access_invitations_open on access_invitations (server_name) where ended_at is null;
create index access_invitations_email on access_invitations (email) where ended_at is null and email is not null;
create index access_invitations_player on access_invitations (mc_uuid) where ended_at is null and mc_uuid is not null;
create index access_invitations_inviter on access_invitations (invited_by) where ended_at is null;
create index access_invitations_expiry on access_invitations (expires_at);

-- Nobody keeps an access that another owner gave, whatever code changes the owner.
create function end_shared_access() returns trigger language plpgsql set search_path from current as $$
begin
  new.members := '[]';
  update access_invitations set ended_at = now(), outcome = 'revoked'
    where server_name = new.name and ended_at is null;
  return new;
end
$$;
create trigger servers_owner_ends_access before update on servers
  for each row when (
    old.owner_id is distinct from new.owner_id or old.deleted_at is distinct from new.deleted_at
  ) execute function end_shared_access();

-- The view of owners has the members too.
create trigger servers_members_changed after update on servers
  for each row when (old.members is distinct from new.members) execute function notify_owner_change();

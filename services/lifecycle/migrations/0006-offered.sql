-- Whether a server without an owner is offered to players; those that are there stay as they were.
alter table servers add column offered boolean not null default true;
drop index servers_claimable;
create index servers_claimable on servers (name)
  where owner_id is null and retire_requested_at is null and deleted_at is null and offered;

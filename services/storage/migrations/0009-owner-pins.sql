-- Whether the pin is its owner's own; staff's pin stays above what the owner asks.
alter table storage.world_backups add column pinned_by_owner boolean not null default false;
create index world_backups_pinned_by_owner on storage.world_backups (former_owner)
  where status = 'present' and pinned_by_owner;

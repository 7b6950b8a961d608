-- What off-site copies are compared with: every backup that is not deleted, and the deleted ones whose copy is left.
create index world_backups_offsite on world_backups (id) where status <> 'deleted' or offsite_at is not null;

-- When the bucket was last listed and every recorded copy was found in it.
create table offsite_confirmations (
  id boolean primary key default true check (id),
  listed_at timestamptz not null
);

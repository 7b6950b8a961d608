-- Files that were in the world and could not be read, so that its archive is not all of it: such a backup neither takes the
-- place of a whole one nor lets a volume go.
alter table storage.world_backups add column unreadable_entries int not null default 0;

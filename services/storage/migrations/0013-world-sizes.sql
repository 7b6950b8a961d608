-- Bytes of the files that a backup holds, unpacked: the size of the world then. Unknown for older backups.
alter table world_backups add column world_bytes bigint;

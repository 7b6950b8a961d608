-- Proofs that a backup boots (docs/reference/backups.md#drill).
create table storage.drills (
  id text primary key,
  server_name text not null,
  backup_id text not null references storage.world_backups,
  state text not null default 'restoring' check (state in ('restoring', 'booting', 'passed', 'failed')),
  message text,
  version text,
  boot_seconds double precision,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);
create index drills_of_server on storage.drills (server_name, started_at desc, id desc);
create index drills_under_way on storage.drills (started_at) where finished_at is null;
create index drills_of_backup on storage.drills (backup_id);

create type backup_status as enum ('present', 'expired', 'deleted');

create table world_backups (
  id text primary key,
  server_name text not null,
  former_owner text,
  backup_ref text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  reason text not null check (reason in ('inactive_15d', 'released', 'manual', 'pre_restore', 'scheduled')),
  status backup_status not null default 'present',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  deleted_at timestamptz,
  offsite_at timestamptz,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  verified_at timestamptz,
  corrupt_at timestamptz,
  skipped_entries int not null default 0,
  label text not null default '',
  -- A pinned backup neither expires nor is pruned.
  pinned_at timestamptz,
  -- The Job that wrote the archive; one Job makes one backup, however often its end is seen.
  job text unique
);
create index world_backups_to_verify on world_backups (verified_at nulls first, created_at)
  where status = 'present' and corrupt_at is null;
create index world_backups_to_copy on world_backups (created_at) where status = 'present' and offsite_at is null;
create index world_backups_newest on world_backups (created_at desc, id desc) where status = 'present';
create index world_backups_of_server on world_backups (server_name, created_at desc, id desc)
  where status = 'present';
create index world_backups_of_owner on world_backups (former_owner, created_at desc, id desc)
  where status = 'present';
create index world_backups_to_delete on world_backups (expires_at) where status <> 'deleted';

-- What was started on worlds. A row is there before its Job, so that whoever looks later knows what a Job was for.
create table world_jobs (
  job text primary key,
  server_name text not null,
  kind text not null check (kind in ('backup', 'restore', 'export_world', 'export_backup', 'export_files')),
  state text not null default 'starting' check (state in ('starting', 'running', 'succeeded', 'failed')),
  message text not null default '',
  -- Owner of the world when it was started.
  owner_id text,
  started_by text not null,
  reason text,
  -- Name of the archive that a backup writes.
  archive text,
  -- Names the caller's own run, which starts a Job once however often it is asked for.
  run_key text unique,
  -- What a restore reads, or will read after its safety snapshot.
  backup_id text references world_backups,
  then_restore text check (then_restore in ('pending', 'started', 'abandoned')),
  then_restore_reason text,
  -- Files and folders to restore; null is the whole world.
  only_paths jsonb,
  -- Job that looks for the archive of a backup whose own Job left no word.
  recovery text,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);
create index world_jobs_of_server on world_jobs (server_name, started_at desc);
create index world_jobs_open on world_jobs (started_at)
  where state in ('starting', 'running') or then_restore = 'pending';
create index world_jobs_finished on world_jobs (finished_at) where finished_at is not null;
-- The lock of the world says the same; this holds even if that should fail.
create unique index world_jobs_one_at_a_time on world_jobs (server_name)
  where state in ('starting', 'running') and kind in ('backup', 'restore');
create unique index world_jobs_one_chain on world_jobs (server_name) where then_restore = 'pending';

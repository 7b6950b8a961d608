-- Worlds on their way to clones (docs/reference/clones.md#world). A row stays as long as its server may ask where it is from.
create table storage.origins (
  id text primary key,
  server_name text not null,
  source_name text not null,
  backup_id text,
  lock text not null,
  job text not null,
  attempt int not null default 1,
  attempt_at timestamptz not null,
  state text not null check (state in ('backing_up', 'restoring', 'done', 'failed', 'given_up')),
  message text,
  code text,
  started_by text not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  check (state not in ('restoring', 'done') or backup_id is not null)
);
create index origins_of_server on storage.origins (server_name, started_at desc, id desc);
create index origins_open on storage.origins (started_at) where state in ('backing_up', 'restoring', 'failed');
create trigger origins_work after insert or update on storage.origins
  for each row execute function storage.notify_work();

-- What text files were before a write through svc replaced them (docs/reference/files.md#history).
create table storage.file_versions (
  id text primary key,
  server_name text not null,
  path text not null,
  content bytea not null,
  sha256 text not null,
  size_bytes int not null,
  -- Account that replaced it, and when.
  replaced_by text not null,
  replaced_at timestamptz not null
);
-- A path may be longer than what an index takes; a server has a few thousand rows at most.
create index file_versions_of_server on storage.file_versions (server_name, replaced_at desc, id desc);
create index file_versions_oldest on storage.file_versions (replaced_at);

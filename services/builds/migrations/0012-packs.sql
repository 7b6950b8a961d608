-- Of a context that was made of a pack without a Dockerfile.
alter table image_submissions add column pack_format text check (pack_format in ('modrinth', 'curseforge'));

-- What became of the pack, beside the context that holds the same.
create table submission_packs (
  submission_id text primary key references image_submissions on delete cascade,
  plan jsonb not null
);

-- contract: no release has the column that goes
alter table image_builds
  -- When its Job and Secret were known to be there; until then they are created, again if need be.
  add column launched_at timestamptz,
  -- sha-256 of one-time tokens of its documents, one for each attempt to create the Secret.
  add column documents_token_hashes text[] not null default '{}',
  drop column documents_token_hash;

-- What the Job sent before its verdict is known.
create table image_build_documents (
  build_id text not null references image_builds on delete cascade,
  document text not null check (document in ('report', 'sbom')),
  gz bytea not null,
  received_at timestamptz not null default now(),
  primary key (build_id, document)
);

-- The log of a build that has ended: one JSON object a line, gzip.
create table image_build_logs (
  build_id text primary key references image_builds on delete cascade,
  gz bytea not null,
  stored_at timestamptz not null default now()
);
create index image_build_logs_oldest on image_build_logs (stored_at);

-- Wakes the reconcile, in whichever replica it runs; sent when the change commits.
create function notify_builds() returns trigger language plpgsql as $$
begin
  perform pg_notify('builds_work', 'image_builds');
  return null;
end
$$;
create trigger image_builds_work after insert or update of status on image_builds
  for each row execute function notify_builds();

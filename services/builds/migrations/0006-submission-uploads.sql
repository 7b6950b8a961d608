alter table image_submissions
  -- Blobs of the context in order: [{"name", "size"}].
  add column context_parts jsonb not null default '[]',
  -- Blob with the list of its entries.
  add column context_index text,
  -- The Dockerfile at its root, as a record for the build.
  add column dockerfile text not null default '';

-- What is staged of a context. One writer at a time; a dead one loses its lease.
create table submission_uploads (
  submission_id text primary key references image_submissions on delete cascade,
  parts jsonb not null default '[]',
  received_bytes bigint not null default 0 check (received_bytes >= 0),
  -- Bytes that the writer is bringing.
  reserved_bytes bigint not null default 0 check (reserved_bytes >= 0),
  writer text,
  writer_until timestamptz,
  touched_at timestamptz not null default now(),
  check ((writer is null) = (writer_until is null))
);

create table submission_cooldowns (
  user_id text not null,
  kind text not null check (kind in ('create', 'upload')),
  started_at timestamptz not null default now(),
  primary key (user_id, kind)
);

-- Mails to authors; a row stays when it was sent, so that nothing is mailed twice.
create table submission_notices (
  id bigint generated always as identity primary key,
  event text not null unique,
  user_id text not null,
  kind text not null,
  facts jsonb not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  sent_at timestamptz
);
create index submission_notices_due on submission_notices (due_at) where sent_at is null;

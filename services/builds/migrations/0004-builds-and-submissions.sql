create type build_status as enum ('pending', 'building', 'succeeded', 'failed', 'cancelled');
create type submission_status as enum ('pending_review', 'approved', 'rejected');

create table image_builds (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  -- Order of arrival, which created_at can't tell of two at once.
  arrival bigint generated always as identity,
  image_ref text not null,
  status build_status not null default 'pending',
  dockerfile text not null default '',
  context_ref text not null,
  context_digest text check (context_digest ~ '^[0-9a-f]{64}$'),
  base_image text,
  requested_by text not null,
  requested_by_id text,
  submission_id text,
  retry_of text,
  job_name text,
  log_ref text,
  error text,
  image_digest text,
  -- What is known of the steps, as docs/reference/builds.md#progress has it.
  steps jsonb not null default '[]',
  -- sha-256 of the one-time token with which the Job sends the documents of its scan.
  documents_token_hash text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  check ((status in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
);
create index image_builds_newest on image_builds (arrival desc);
create index image_builds_unfinished on image_builds (arrival) where status in ('pending', 'building');
create index image_builds_image_ref on image_builds (image_ref);
create index image_builds_submission on image_builds (submission_id) where submission_id is not null;

create table image_build_scans (
  build_id text primary key references image_builds on delete cascade,
  blocked boolean not null,
  summary jsonb not null,
  report_gz bytea,
  sbom_gz bytea,
  scanned_at timestamptz not null
);

create table image_submissions (
  id text primary key check (id ~ '^sub-[0-9a-f]{24}$'),
  arrival bigint generated always as identity,
  -- The name to show, and the account that owns it.
  submitted_by text not null,
  submitted_by_id text not null,
  display_name text not null,
  status submission_status not null default 'pending_review',
  image_ref text,
  build_id text references image_builds,
  context_sha256 text check (context_sha256 ~ '^[0-9a-f]{64}$'),
  context_bytes bigint check (context_bytes >= 0),
  uploaded_at timestamptz,
  reviewed_by text,
  reject_reason text,
  created_at timestamptz not null default now(),
  reviewed_at timestamptz,
  check ((context_sha256 is null) = (context_bytes is null)),
  check ((status = 'pending_review') = (reviewed_at is null)),
  check (status <> 'rejected' or reject_reason <> '')
);
create index image_submissions_newest on image_submissions (arrival desc);
create index image_submissions_of_author on image_submissions (submitted_by_id, arrival desc);
create index image_submissions_status on image_submissions (status, arrival desc);

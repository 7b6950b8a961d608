create table finding_acceptances (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  -- Order of arrival.
  arrival bigint generated always as identity,
  finding_id text not null,
  -- The package of a vulnerability; the file of a secret.
  package text not null check (package <> ''),
  -- Null for every image.
  repository text,
  reason text not null check (reason <> ''),
  accepted_by text not null,
  accepted_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique nulls not distinct (repository, finding_id, package)
);

-- Where images come from: what the registry keeps as a referrer of the image, and what admission trusts.
create table image_provenances (
  build_id text primary key references image_builds on delete cascade,
  -- Of the image, and of the manifest that refers to it.
  digest text not null check (digest ~ '^sha256:[0-9a-f]{64}$'),
  manifest_digest text not null check (manifest_digest ~ '^sha256:[0-9a-f]{64}$'),
  -- The in-toto statement, byte for byte.
  statement text not null,
  created_at timestamptz not null default now()
);
create index image_provenances_digest on image_provenances (digest);

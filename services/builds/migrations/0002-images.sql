create type image_source as enum ('built', 'external', 'recommended');

create table image_whitelist (
  image_ref text primary key check (image_ref <> ''),
  source image_source not null default 'built',
  build_id text,
  added_by text not null,
  enabled boolean not null default true,
  added_at timestamptz not null default now()
);

-- What the configuration recommends is put on the list once: an entry that an admin took off stays off.
create table recommended_images (
  image_ref text primary key,
  seeded_at timestamptz not null default now()
);

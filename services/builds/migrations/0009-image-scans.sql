alter table image_builds
  -- A scan judges an image that exists: it has a digest from the start and no context.
  add column kind text not null default 'build' check (kind in ('build', 'scan')),
  add check (kind = 'build' or image_digest is not null);
create index image_builds_digest on image_builds (image_digest) where image_digest is not null;

alter table image_whitelist
  -- What the tag named when its image was looked up last; null for images of other registries.
  add column digest text check (digest ~ '^sha256:[0-9a-f]{64}$');

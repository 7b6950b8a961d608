-- Images of the registry that the Dockerfile was built FROM: [{"image_ref", "digest"}].
alter table image_builds add column bases jsonb not null default '[]';

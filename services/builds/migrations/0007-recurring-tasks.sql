-- Work that one replica does for all from time to time.
create table recurring_tasks (
  name text primary key,
  due_at timestamptz not null
);

-- When nothing secret of an ended build was left in the cluster.
alter table image_builds add column cleaned_at timestamptz;
create index image_builds_uncleaned on image_builds (finished_at)
  where finished_at is not null and started_at is not null and cleaned_at is null;

-- Users are searched by part of a name or an address (docs/reference/accounts.md#users). In the C collation a scan of a hundred thousand of
-- them costs some milliseconds; no extension is needed for it.
alter table users add column search text collate "C"
  generated always as (lower(username || ' ' || coalesce(email, ''))) stored;
-- Nobody may be taken for somebody else by the case of a letter.
create unique index users_username_folded on users (lower(username));
create index users_newest on users (created_at desc, id desc) where deleted_at is null;

-- A deletion is over when lifecycle has released the user's servers too; until then it is tried again.
create table user_deletions (
  user_id text primary key references users (id) on delete cascade,
  requested_at timestamptz not null,
  next_at timestamptz not null,
  released_at timestamptz
);
create index user_deletions_open on user_deletions (next_at) where released_at is null;

-- The audit log is read newest first, narrowed by one thing at a time. File actions name `<server>:<path>`.
drop index audit_logs_created_at;
create index audit_logs_newest on audit_logs (created_at desc, id desc);
create index audit_logs_server on audit_logs (split_part(server_name, ':', 1), created_at desc, id desc)
  where server_name is not null;
create index audit_logs_action on audit_logs (action text_pattern_ops, created_at desc, id desc);
create index audit_logs_actor_name on audit_logs (actor, created_at desc, id desc);

-- Changes of the cluster that were admitted and whose outcome is not recorded yet. A row is written before the change;
-- whoever learns the outcome deletes it and leaves the audit entry in the outbox, in one statement.
create table server_changes (
  id text primary key,
  -- The audit entry, without its outcome.
  entry jsonb not null,
  admitted_at timestamptz not null default now()
);
create index server_changes_admitted_at on server_changes (admitted_at);

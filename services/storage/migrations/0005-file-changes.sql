-- Changes of files that were admitted and whose outcome nobody wrote down yet. A row is there before its Job; whoever
-- sees how the Job ended takes the row away and leaves the audit entry in the outbox, in one transaction.
create table file_changes (
  job text primary key,
  server_name text not null,
  -- The audit entry, but for its outcome.
  entry jsonb not null,
  -- Background operation that the Job belongs to.
  op text,
  started_at timestamptz not null default now()
);
create index file_changes_oldest on file_changes (started_at);

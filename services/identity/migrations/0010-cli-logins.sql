-- Command lines that wait for an approval in the browser. The approver's role and session are kept, because an approval
-- counts only while both still do.
create table cli_logins (
  secret_hash text primary key,
  code_hash text not null unique,
  host session_host not null,
  network text not null,
  client_ip text not null,
  user_agent text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decision text check (decision in ('approve', 'refuse')),
  decided_by text references users (id) on delete cascade,
  decided_role text,
  decided_session text,
  consumed_at timestamptz,
  check ((decision is null) = (decided_by is null))
);
create index cli_logins_network on cli_logins (network, expires_at);
create index cli_logins_expires_at on cli_logins (expires_at);

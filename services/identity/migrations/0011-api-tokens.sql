-- API tokens (docs/reference/api-tokens.md#token). `servers` null: all servers of the account. A revoked row is kept for
-- a while, so that its caller is told why.
create table api_tokens (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  name text not null,
  token_hash text not null unique,
  rights text[] not null,
  servers text[],
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text
);
create index api_tokens_user on api_tokens (user_id);
create index api_tokens_expires_at on api_tokens (expires_at);

create table webauthn_credentials (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  credential_id text not null constraint webauthn_credentials_once unique,
  public_key text not null,
  sign_count bigint not null default 0,
  aaguid text not null default '',
  name text not null default '',
  user_verified boolean not null default false,
  backup_eligible boolean not null default false,
  backup_state boolean not null default false,
  transports text[] not null default '{}',
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index webauthn_credentials_user on webauthn_credentials (user_id, created_at desc);

-- One row per ceremony under way; found by the challenge that the browser signed, and spent by its first use.
create table webauthn_challenges (
  id text primary key,
  user_id text references users (id) on delete cascade,
  purpose text not null check (purpose in ('register', 'login', 'discoverable', 'reauth', 'migrate')),
  challenge text not null unique,
  -- sha-256 of the cookie of the session that began it; null at the sign-in doors.
  session text,
  -- The client's network, at the sign-in doors only.
  source text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_at timestamptz
);
create index webauthn_challenges_expires_at on webauthn_challenges (expires_at);
create index webauthn_challenges_source on webauthn_challenges (purpose, source, expires_at)
  where consumed_at is null and source is not null;

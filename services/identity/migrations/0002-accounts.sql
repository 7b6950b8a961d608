create function touch_updated_at() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  return new;
end $$;

create type user_role as enum ('owner', 'admin', 'user');
create type link_auth_source as enum ('mojang', 'thirdparty');
create type session_door as enum ('setup', 'passkey', 'email', 'bind', 'op_login', 'password');

create table users (
  id text primary key,
  username text not null unique,
  email text,
  role user_role not null default 'user',
  email_verified boolean not null default false,
  disabled boolean not null default false,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (not email_verified or email is not null)
);
create unique index users_verified_email on users (lower(email)) where email_verified;
create index users_live_role on users (role) where deleted_at is null and not disabled;
create index users_deleted_at on users (deleted_at) where deleted_at is not null;
create trigger users_updated_at before update on users for each row execute function touch_updated_at();

create table account_links (
  user_id text not null references users (id) on delete cascade,
  mc_uuid uuid not null constraint account_links_one_account unique,
  verified_at timestamptz not null default now(),
  auth_source link_auth_source not null default 'mojang',
  primary key (user_id, mc_uuid)
);

create table quotas (
  user_id text primary key references users (id) on delete cascade,
  max_servers integer check (max_servers >= 0),
  max_cpu_milli integer check (max_cpu_milli >= 0),
  max_memory_mb integer check (max_memory_mb >= 0),
  max_storage_gb integer check (max_storage_gb >= 0),
  updated_at timestamptz not null default now(),
  updated_by text
);
create trigger quotas_updated_at before update on quotas for each row execute function touch_updated_at();

create table sessions (
  token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
  user_id text not null references users (id) on delete cascade,
  door session_door not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  user_agent text not null default '',
  client_ip text not null default '',
  last_seen_at timestamptz not null,
  reauth_at timestamptz
);
create index sessions_user on sessions (user_id);
create index sessions_expires_at on sessions (expires_at);

create table setup_tokens (
  token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
  user_id text not null references users (id) on delete cascade,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  created_at timestamptz not null
);
create index setup_tokens_user on setup_tokens (user_id);

create table email_otps (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  email text not null,
  code_hash text not null,
  purpose text not null check (purpose in ('onboard_email', 'op_login', 'reauth', 'migrate_confirm', 'sign_in')),
  attempts integer not null default 0,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  created_at timestamptz not null
);
create index email_otps_user_purpose on email_otps (user_id, purpose, created_at desc);
create index email_otps_expires_at on email_otps (expires_at);

-- The lock counts all mailed codes of an account together, in the row with the purpose 'any'.
create table otp_failure_windows (
  user_id text not null references users (id) on delete cascade,
  purpose text not null,
  window_start timestamptz not null,
  failures integer not null,
  primary key (user_id, purpose)
);

-- Who may not be mailed another code yet: 'user:<id>' and 'mail:<sha-256 of the address>'.
create table otp_reservations (
  key text primary key,
  free_at timestamptz not null
);
create index otp_reservations_free_at on otp_reservations (free_at);

create table platform_settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);
create trigger platform_settings_updated_at before update on platform_settings
  for each row execute function touch_updated_at();

create table audit_logs (
  id bigint generated always as identity primary key,
  entry_id text not null constraint audit_logs_once unique,
  actor text not null,
  source text not null,
  action text not null,
  server_name text,
  request_id text,
  payload jsonb not null default '{}',
  created_at timestamptz not null,
  actor_user_id text references users (id) on delete set null,
  client_ip inet,
  user_agent text
);
create index audit_logs_actor on audit_logs (actor_user_id, created_at desc) where actor_user_id is not null;
create index audit_logs_created_at on audit_logs (created_at desc);

-- Token buckets. Losing those of sign-in in a crash only means that they start full.
create unlogged table sign_in_budgets (
  key text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
);
create index sign_in_budgets_refilled_at on sign_in_budgets (refilled_at);

create table mail_budgets (
  key text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
);

-- Letters that follow a committed change: they wait here while the relay or the budget does not take them.
create table mail_notices (
  id bigint generated always as identity primary key,
  kind text not null,
  recipient text not null,
  facts jsonb not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  created_at timestamptz not null
);
create index mail_notices_next_at on mail_notices (next_at);

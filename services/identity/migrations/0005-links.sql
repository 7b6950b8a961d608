-- Only the hash of a bind code is kept: whoever holds one signs in as its player.
create table account_link_codes (
  code_hash text primary key check (code_hash ~ '^[0-9a-f]{64}$'),
  mc_uuid uuid not null,
  auth_source link_auth_source not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index account_link_codes_player on account_link_codes (mc_uuid, created_at desc);
create index account_link_codes_expires_at on account_link_codes (expires_at);

create table username_blacklist (
  mc_uuid uuid primary key,
  username text not null,
  reason text not null default 'mojang_priority_reclaim',
  blacklisted_at timestamptz not null
);

create table player_data_holds (
  id text primary key,
  mc_uuid uuid not null constraint player_data_holds_one_player unique,
  username text not null,
  data_ref text,
  held_at timestamptz not null,
  expires_at timestamptz not null,
  reclaimed_by_user_id text references users (id) on delete set null,
  reclaimed_at timestamptz
);
create index player_data_holds_username on player_data_holds (username);
create index player_data_holds_expires_at on player_data_holds (expires_at);

-- redeeming: the target's code was taken, and whether lifecycle has moved the servers is not known yet.
create table account_migrations (
  id text primary key,
  source_user_id text not null references users (id) on delete cascade,
  target_user_id text references users (id) on delete cascade,
  state text not null check (state in ('initiated', 'confirmed', 'code_issued', 'redeeming', 'redeemed')),
  confirm_factor text check (confirm_factor in ('passkey', 'email_otp')),
  confirmed_at timestamptz,
  confirm_session text,
  code_hash text,
  code_expires_at timestamptz,
  -- Until then one process works on the redemption; afterwards anybody may carry it on.
  leased_until timestamptz,
  -- What was moved, and whether the target has been told.
  servers jsonb,
  told_at timestamptz,
  redeemed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (state not in ('code_issued', 'redeeming', 'redeemed')
    or (target_user_id is not null and code_hash is not null and code_expires_at is not null)),
  check (state <> 'redeeming' or leased_until is not null),
  check (state <> 'redeemed' or (servers is not null and redeemed_at is not null))
);
create unique index account_migrations_unfinished on account_migrations (source_user_id) where state <> 'redeemed';
create unique index account_migrations_code on account_migrations (code_hash) where code_hash is not null;
create index account_migrations_redeeming on account_migrations (leased_until) where state = 'redeeming';
create index account_migrations_target on account_migrations (target_user_id) where target_user_id is not null;

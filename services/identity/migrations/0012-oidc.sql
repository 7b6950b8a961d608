-- Sign-in with OpenID providers (docs/reference/sign-in.md#oidc).
alter type session_door add value 'oidc';

-- Who somebody is at a provider: only issuer and subject count. `label` is for recognition. `gave_admin`: the account has its
-- role because of the claims of this identity, and loses it with them.
create table external_identities (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  issuer text not null,
  subject text not null,
  label text not null,
  gave_admin boolean not null default false,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create unique index external_identities_once on external_identities (issuer, subject);
create index external_identities_user on external_identities (user_id);

-- Browsers that were sent to a provider. One that comes back takes its row along, so that none can come twice.
create table oidc_logins (
  state_hash text primary key,
  secret_hash text not null,
  issuer text not null,
  host session_host not null,
  nonce text not null,
  verifier text not null,
  -- Who links an identity, and the sha-256 of the cookie; both null at a sign-in.
  user_id text references users (id) on delete cascade,
  session text,
  network text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((user_id is null) = (session is null))
);
create index oidc_logins_network on oidc_logins (network, expires_at);
create index oidc_logins_expires_at on oidc_logins (expires_at);

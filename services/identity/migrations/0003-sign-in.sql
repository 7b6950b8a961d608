-- password_hash: argon2id in PHC form, set only by the CLI.
alter table users
  add column language text not null default 'en' check (language in ('en', 'zh')),
  add column password_hash text;

-- What a public door answers about an address while it waits: remembered whether or not there is an account.
alter table otp_reservations add column expires_at timestamptz;

alter table mail_notices add column language text not null default 'en' check (language in ('en', 'zh'));
create index mail_budgets_refilled_at on mail_budgets (refilled_at);

create table op_login_requests (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  email text not null,
  attempts integer not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  consumed_at timestamptz,
  approved_at timestamptz,
  approved_by text references users (id) on delete set null,
  client_ip text not null default '',
  user_agent text not null default ''
);
create index op_login_requests_pending on op_login_requests (created_at)
  where approved_at is null and consumed_at is null;
create index op_login_requests_expires_at on op_login_requests (expires_at);

-- Written by a refused try that counts nowhere else, so that it costs the same as one that counts. 256 rows at most.
create table sign_in_misses (
  slot integer primary key check (slot between 0 and 255),
  tries bigint not null default 0,
  last_at timestamptz not null
);

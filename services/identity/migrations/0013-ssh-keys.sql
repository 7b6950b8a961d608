-- SSH keys for SFTP (docs/reference/sftp.md#keys). A key belongs to one account only.
create table ssh_keys (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  name text not null,
  type text not null,
  -- base64, as in the second field of its line
  public_key text not null,
  fingerprint text not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz,
  last_used_ip text
);
create index ssh_keys_user on ssh_keys (user_id);

-- Tokens that are sessions of SFTP, by the key that opened them; the key may be gone.
alter table api_tokens add column ssh_key_id text;
create index api_tokens_ssh_key on api_tokens (ssh_key_id) where ssh_key_id is not null;

-- Where SFTP is reached: one row, which each process of SFTP overwrites every minute.
create table sftp_endpoint (
  id integer primary key check (id = 1),
  host text not null,
  port integer not null,
  fingerprint text not null,
  seen_at timestamptz not null
);

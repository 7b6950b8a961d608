-- How often accounts may try invitations (docs/reference/shared-access.md#invitations): a token bucket for each, which all
-- replicas share. Losing them in a crash only means that they start full.
create unlogged table invitation_attempts (
  key text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
);
create index invitation_attempts_refilled_at on invitation_attempts (refilled_at);

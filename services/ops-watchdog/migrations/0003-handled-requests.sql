-- What came of requests that may be repeated (docs/adr/0014): a row is made in the transaction of the change, its
-- outcome follows, sealed under the request's id. Rows live for ten minutes.
create table handled_requests (
  id bytea primary key,
  claimed_at timestamptz not null default now(),
  outcome bytea
);
create index handled_requests_claimed_at on handled_requests (claimed_at);

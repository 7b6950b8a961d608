-- Events wait here until they are published; a commit wakes the relay (docs/adr/0006).
create table outbox (
  id bigint generated always as identity primary key,
  subject text not null,
  body text not null,
  created_at timestamptz not null default now()
);

create function outbox_wake() returns trigger language plpgsql as $$
begin
  perform pg_notify('outbox_' || tg_table_schema, '');
  return null;
end $$;

create trigger outbox_wake after insert on outbox
  for each statement execute function outbox_wake();

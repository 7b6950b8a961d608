-- Settings under a name, from which servers are made (docs/reference/server-templates.md).
create table server_templates (
  name text primary key,
  title text not null,
  description text not null,
  offered boolean not null,
  settings jsonb not null,
  -- Counts the changes: whoever changes it says which one they saw.
  revision integer not null,
  changed_by text not null,
  changed_at timestamptz(3) not null
);

-- The account that made the server from a template, whoever owns it now.
alter table servers add column created_by text;
create index servers_created_by on servers (created_by) where created_by is not null and deleted_at is null;

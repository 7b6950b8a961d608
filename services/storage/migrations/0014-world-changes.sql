-- Tells whoever shows a world that something of it changed, whatever changed it: one event for each server and statement,
-- in the transaction of the change. The names of the tables here are found in this schema, whoever writes.
create function announce_world_change() returns trigger language plpgsql set search_path from current as $$
begin
  if not exists (select from changed) then
    return null;
  end if;
  insert into outbox (subject, body)
    select distinct 'svc.evt.storage.world.changed.' || server_name,
      json_build_object('server_name', server_name, 'type', tg_argv[0])::text
    from changed where server_name ~ '^[A-Za-z0-9_-]+$';
  return null;
end
$$;
create trigger world_jobs_added after insert on world_jobs referencing new table as changed
  for each statement execute function announce_world_change('job');
create trigger world_jobs_changed after update on world_jobs referencing new table as changed
  for each statement execute function announce_world_change('job');
create trigger file_changes_added after insert on file_changes referencing new table as changed
  for each statement execute function announce_world_change('file');
create trigger file_changes_ended after delete on file_changes referencing old table as changed
  for each statement execute function announce_world_change('file');
create trigger world_migrations_added after insert on world_migrations referencing new table as changed
  for each statement execute function announce_world_change('move');
create trigger world_migrations_changed after update on world_migrations referencing new table as changed
  for each statement execute function announce_world_change('move');
create trigger drills_added after insert on drills referencing new table as changed
  for each statement execute function announce_world_change('drill');
create trigger drills_changed after update on drills referencing new table as changed
  for each statement execute function announce_world_change('drill');
create trigger world_backups_added after insert on world_backups referencing new table as changed
  for each statement execute function announce_world_change('backup');
create trigger world_backups_changed after update on world_backups referencing new table as changed
  for each statement execute function announce_world_change('backup');

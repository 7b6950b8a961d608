-- A change of files is two events, since it begins and ends: the second one says so, for whoever counts changes.
create or replace function announce_world_change() returns trigger language plpgsql set search_path from current as $$
begin
  if not exists (select from changed) then
    return null;
  end if;
  insert into outbox (subject, body)
    select distinct 'svc.evt.storage.world.changed.' || server_name,
      json_strip_nulls(json_build_object(
        'server_name', server_name, 'type', tg_argv[0], 'ended', tg_argv[1]::boolean))::text
    from changed where server_name ~ '^[A-Za-z0-9_-]+$';
  return null;
end
$$;
create or replace trigger file_changes_ended after delete on file_changes referencing old table as changed
  for each statement execute function announce_world_change('file', 'true');

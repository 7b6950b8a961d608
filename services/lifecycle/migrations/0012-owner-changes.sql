-- Tells whoever publishes the view of owners which server changed, whatever changed it; sent when the change commits.
create function notify_owner_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('lifecycle_owners', coalesce(new.name, old.name));
  return null;
end
$$;
create trigger servers_owner_added after insert or delete on servers
  for each row execute function notify_owner_change();
create trigger servers_owner_changed after update on servers
  for each row when (
    (old.owner_id, old.retire_requested_at, old.retire_delete, old.offered, old.deleted_at)
      is distinct from (new.owner_id, new.retire_requested_at, new.retire_delete, new.offered, new.deleted_at)
  ) execute function notify_owner_change();

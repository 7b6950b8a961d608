-- Wakes the loops that reconcile these tables, in whichever replica they run; sent when the change commits.
create function notify_work() returns trigger language plpgsql as $$
begin
  perform pg_notify('storage_work', tg_table_name);
  return null;
end
$$;
create trigger world_jobs_work after insert or update on world_jobs
  for each row execute function notify_work();
create trigger world_migrations_work after insert or update on world_migrations
  for each row execute function notify_work();
create trigger drills_work after insert or update on drills
  for each row execute function notify_work();
create trigger file_changes_work after insert on file_changes
  for each row execute function notify_work();

-- Who was removed since the bundle was taken would have access again, and a link that was taken back would open.
update servers set members = '[]' where members <> '[]';
update access_invitations set ended_at = now(), outcome = 'revoked' where ended_at is null;
-- Tasks that members saved last go with their access.
update server_schedules set enabled = false, next_run_at = null where saved_by is not null and enabled;
update server_schedules set run_revoked = true where saved_by is not null and run_state <> '';
-- Whose page was switched off since would be shown to everybody again.
delete from status_pages;
delete from status_overview;
-- What players had erased since the bundle was taken would be back; nobody knows who they are. Notes go with it.
delete from known_players;
-- What was asked of servers since the bundle was taken is not known to a run that was under way then.
update server_group_runs set state = 'cancelled', ended_at = now(), revision = revision + 1 where state = 'running';

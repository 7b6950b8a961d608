-- fact: every present backup has an archive
select id from world_backups where status = 'present' and backup_ref = '';

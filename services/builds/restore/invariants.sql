-- fact: every approved submission has its build
select id from image_submissions where status = 'approved' and build_id is null;
-- fact: every image that was built here and is allowed passed its scan
select w.image_ref from image_whitelist w
  left join image_build_scans s on s.build_id = w.build_id and not s.blocked
  where w.source = 'built' and w.build_id is not null and s.build_id is null;

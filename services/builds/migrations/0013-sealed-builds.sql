-- When all that is known of a build that succeeds was recorded: digest, verdict, provenance and log. Only its tag and its end are left,
-- which no longer depend on the Job.
alter table image_builds add column sealed_at timestamptz;

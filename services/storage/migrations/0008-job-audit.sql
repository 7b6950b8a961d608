-- The audit entry of whoever started a Job waits beside its row until the Job is there, and is published with that step:
-- a process that dies in between leaves no Job without its entry. Null once it was published, or when there is none.
alter table storage.world_jobs add column audit text;

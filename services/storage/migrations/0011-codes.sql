-- What a message says, for machines: readers of other languages have words of their own for it.
alter table storage.world_jobs add column code text not null default '';
alter table storage.drills add column code text;

-- A page of one kind and how many there are of it, without reading the others.
create index image_builds_newest_of_kind on image_builds (kind, arrival desc);
drop index image_builds_newest;

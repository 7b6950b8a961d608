-- Which replica reads the log of which server, and until when somebody watches. A row is taken by compare-and-set and
-- kept by renewing it; it goes when nobody watches any more. It is not the fence: that is the line stream itself.
create table console_follows (
  server_name text primary key,
  replica text not null,
  held_until timestamptz not null,
  wanted_until timestamptz not null
);

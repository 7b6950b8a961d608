-- Tickets of byte transfers that ended long ago.
delete from archive_tickets;

-- Sessions that the person at the host makes for an operator, on the database alone.
alter type session_door add value 'host';

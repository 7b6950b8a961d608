-- How the game's clock went before a crash (docs/reference/crashes.md#ticks).
alter table server_crashes add column tps real;
-- The most milliseconds that the log says it was behind.
alter table server_crashes add column behind_ms int;
-- The game's or Paper's watchdog spoke of a tick that did not end.
alter table server_crashes add column watchdog boolean;

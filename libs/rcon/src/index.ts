export { connectRcon, probe, type RconClient } from "./client.ts";
export { RconError } from "./errors.ts";
export { parsePlayerList } from "./player-list.ts";
export { type RconServer, startRconServer } from "./server.ts";

export { connectRcon, type ProbeResult, probe, type RconClient, type RconOptions } from "./client.ts";
export { assertCommand } from "./command.ts";
export { RconError, type RconErrorCode } from "./errors.ts";
export { type PlayerList, parsePlayerList } from "./player-list.ts";
export { type RconServer, type RconServerOptions, startRconServer } from "./server.ts";

// Limits and intervals of the proxy (docs/reference/settings.md#proxy).

import { readVariables, wholeNumber } from "@svc/config";

const count = (fallback: number) => wholeNumber({ min: 1, max: 2_147_483_647, fallback });

export const limits = {
  /** Milliseconds between two polls of the server list. */
  refreshMs: count(15_000),
  /** The same until the first list has arrived. */
  firstRefreshMs: count(1_000),
  /** Milliseconds between two polls of what is announced. */
  announcementsMs: count(10_000),
  /** Milliseconds between two extra polls for a name that the list lacks, at least. */
  lookAgainMs: count(1_000),
  /** Milliseconds between two checks of the servers that players wait for. */
  queueTickMs: count(2_000),
  /** Milliseconds between two reports of who is online. */
  presenceMs: count(2_000),
  /** Milliseconds between two reports of how long players have been on servers. */
  visitsMs: count(10_000),
  /** Milliseconds for which the list of who is online on all proxies is kept. */
  onlineCacheMs: count(2_000),
  /** Milliseconds between two checks of all online players for bars and ended links. */
  standingMs: count(5_000),
  /** Milliseconds without an answer about a server after which its players stop waiting. */
  waiterSilenceMs: count(120_000),
  /** Milliseconds that a player waits for a server, at most. */
  waiterMaxMs: count(3_600_000),
  /** Milliseconds between two messages to a player who waits. */
  progressMs: count(60_000),
  /** Milliseconds after a wake for which the server may still be listed as stopped. */
  wakeSettleMs: count(6_000),
  /** Milliseconds for which a link counts while the service is down. */
  linkMemoryMs: count(600_000),
  /** Players whose links are remembered, at most. */
  linkMemoryPlayers: count(20_000),
  /** Milliseconds between two messages to a player in the gate about why they cannot pass. */
  denialMs: count(15_000),
  /** Acting commands that a player may send at once. */
  actionBurst: count(5),
  /** Milliseconds until such a player may send one more. */
  actionEveryMs: count(5_000),
  /** Frames of `svc:control`, and separately completions, that a player may send at once. */
  frameBurst: count(96),
  /** Milliseconds until such a player may send one more. */
  frameEveryMs: count(100),
  /** Milliseconds between two warnings about one server that sends forbidden packets. */
  strangerWarningMs: count(60_000),
  /** Milliseconds for which a server's row of the menu is kept. */
  statusCacheMs: count(2_000),
  /** Milliseconds for which a server's status (version, players) is kept. */
  serverLookMs: count(5_000),
  /** Milliseconds that a server may take to answer a status ping. */
  serverLookTimeoutMs: count(2_000),
  /** Servers in one list for the lobby, at most. */
  listNames: count(500),
  /** Requests of players to the service at the same time. */
  workers: count(8),
  /** Requests that wait for one of these; more are refused as busy. */
  slots: count(64),
  /** Connections to the service, at most. */
  serviceConnections: count(32),
  /** Milliseconds of the pause before a failed read is repeated: at least and at most. */
  retryPauseMinMs: count(100),
  /** See `retry-pause-min-ms`. */
  retryPauseMaxMs: count(400),
  /** Milliseconds after which a read that has no answer yet is asked again on a new connection, up to three times. */
  serviceTryMs: count(1_000),
  /** Milliseconds between two reads of the token's file and of the forwarding masters. */
  tokenRereadMs: count(1_000),
  /** Milliseconds between two warnings that the server list cannot be read. */
  outageWarningMs: count(300_000),
  /** Milliseconds between two summaries of activity in the log. */
  activityMs: count(600_000),
  /** Milliseconds for which an invitation may be accepted. */
  inviteTtlMs: count(60_000),
  /** Milliseconds between two invitations of one player to another. */
  inviteCooldownMs: count(30_000),
  /** Open connections, at most. */
  connections: count(4_096),
  /** Open connections of one IPv4 address or IPv6 /64, at most. */
  connectionsPerAddress: count(16),
  /** Logins from one IPv4 address or IPv6 /64 at once. */
  loginBurst: count(32),
  /** Milliseconds until such an address may log in once more. */
  loginEveryMs: count(2_000),
  /** Milliseconds that a login may take. */
  loginTimeoutMs: count(30_000),
  /** Milliseconds for which a stopping proxy waits for its players to leave, twice. */
  drainMs: count(20_000),
  /** Milliseconds for which a player who was sent on by a restart is led back to their server. */
  ticketMs: count(120_000),
  /** Milliseconds that a client may take to return a cookie. */
  cookieMs: count(2_000),
};
export type Limits = { readonly [Name in keyof typeof limits]: number };

export const defaultLimits: Limits = readVariables(limits, () => undefined);

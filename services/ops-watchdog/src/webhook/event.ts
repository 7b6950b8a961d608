// What webhooks tell of, from the events of other services (docs/reference/webhooks.md#events). Pure.

import { createHash } from "node:crypto";
import {
  backups,
  builds,
  crashes,
  ownership,
  parseNewer,
  players,
  schedules,
  servers,
  type webhooks,
  worlds,
} from "@svc/proto";

export type Happened = {
  /** The same however often it is read. */
  id: string;
  type: webhooks.WebhookEventType;
  server?: string;
  at: Date;
  /** What the format `json` says about it. */
  data: Record<string, unknown>;
};

/** A message of a stream: something to tell, an owner who is gone, or nothing for webhooks. */
export type Read = { tell?: Omit<Happened, "id">; ownerChanged?: { server: string; at: Date } };

type Reader = (body: unknown) => Read;

/** What waits for what was before it: all about one server, all alerts, all builds; no server has the last name. */
export function laneOf({ type, server }: Pick<Happened, "type" | "server">): string {
  return server ?? (isAlert(type) ? "alerts" : "/builds");
}

export function isAlert(type: webhooks.WebhookEventType): boolean {
  return type === "alert.firing" || type === "alert.resolved";
}

/** A receiver learns nothing from the id: it is a digest. */
export function eventIdOf(source: string): string {
  return `evt_${createHash("sha256").update(source).digest("hex").slice(0, 32)}`;
}

const tell = (
  type: webhooks.WebhookEventType,
  { server, at }: { server?: string; at: string },
  data: Record<string, unknown>,
): Read => ({ tell: { type, ...(server !== undefined && { server }), at: new Date(at), data } });

const ownerChange = ({ name, at }: { name: string; at: string }): Read => ({
  ownerChanged: { server: name, at: new Date(at) },
});

const phases: Partial<Record<string, webhooks.WebhookEventType>> = {
  Starting: "server.starting",
  Running: "server.ready",
  Stopped: "server.stopped",
  Failed: "server.failed",
};

const readers: Readonly<Record<string, Reader>> = {
  [servers.serverPhaseChanged.subject]: (body) => {
    const { name, from, to, reason, at } = parseNewer(servers.serverPhaseChanged.data, body);
    // Whoever has lost the connection to a running server has not started it; a new server has not stopped.
    const isNoise = (from === "Running" && to === "Starting") || (from === "Unknown" && to === "Stopped");
    const type = isNoise ? undefined : phases[to];
    return type ? tell(type, { server: name, at }, { reason }) : {};
  },
  [players.playerJoined.subject]: (body) => {
    const { name, mc_uuid, player_name, at } = parseNewer(players.playerJoined.data, body);
    return tell("player.joined", { server: name, at }, { mc_uuid, player_name });
  },
  [players.playerLeft.subject]: (body) => {
    const { name, mc_uuid, player_name, reason, at } = parseNewer(players.playerLeft.data, body);
    return tell("player.left", { server: name, at }, { mc_uuid, player_name, reason });
  },
  [crashes.crashed.subject]: (body) => {
    const { name, id, cause, at } = parseNewer(crashes.crashed.data, body);
    return tell(
      cause === "hung" ? "server.hung" : "server.crashed",
      { server: name, at },
      { crash: id, cause },
    );
  },
  [schedules.runFinished.subject]: (body) => {
    const { name, id, action, result, cause, at, ...codes } = parseNewer(schedules.runFinished.data, body);
    if (result !== "failed" && result !== "missed") return {};
    const code = codes.code ?? codes.chain_code;
    return tell("schedule.failed", { server: name, at }, { schedule: id, action, result, code, cause });
  },
  [backups.backupMade.subject]: (body) => {
    const { server_name: server, id, reason, size_bytes, at } = parseNewer(backups.backupMade.data, body);
    return tell("backup.succeeded", { server, at }, { backup: id, reason, size_bytes });
  },
  [backups.backupFailed.subject]: (body) => {
    const { server_name: server, job, message, at } = parseNewer(backups.backupFailed.data, body);
    return tell("backup.failed", { server, at }, { job, message });
  },
  [backups.worldRestored.subject]: (body) => {
    const { server_name: server, backup_id: backup, job, at } = parseNewer(backups.worldRestored.data, body);
    return tell("restore.succeeded", { server, at }, { backup, job });
  },
  [backups.restoreFailed.subject]: (body) => {
    const {
      server_name: server,
      backup_id: backup,
      job,
      message,
      at,
    } = parseNewer(backups.restoreFailed.data, body);
    return tell("restore.failed", { server, at }, { backup, job, message });
  },
  [builds.buildEnded.subject]: (body) => {
    const { id, outcome, image_ref, display_name, at, ...more } = parseNewer(builds.buildEnded.data, body);
    const { requested_by, submission_id: submission, retry_of, digest, failed_step, cause } = more;
    return tell(
      `build.${outcome}`,
      { at },
      {
        ...{ build: id, image: image_ref, name: display_name ?? image_ref, requested_by },
        ...{ submission, retry_of, digest, failed_step, cause },
      },
    );
  },
  [ownership.serverClaimed.subject]: (body) => ownerChange(parseNewer(ownership.serverClaimed.data, body)),
  [ownership.serverTransferred.subject]: (body) =>
    ownerChange(parseNewer(ownership.serverTransferred.data, body)),
  [worlds.serverReleased.subject]: (body) => ownerChange(parseNewer(worlds.serverReleased.data, body)),
};

/** Reads a message; `subject` is that of NATS, with the key. Throws for a body that does not parse. */
export function readMessage(subject: string, body: unknown): Read {
  const known = Object.keys(readers).find((name) => subject.startsWith(`svc.evt.${name}.`));
  return known === undefined ? {} : (readers[known]?.(body) ?? {});
}

type AlertChange = {
  /** Unix milliseconds. */
  at: number;
  what: string;
  key?: string | undefined;
  severity?: string | undefined;
  summary?: { en: string; zh: string } | undefined;
};

/** What the history of alerts has to tell; the same entry has the same id. */
export function readAlerts(history: readonly AlertChange[]): Happened[] {
  return history.flatMap(({ at, what, key, severity, summary }) => {
    const type =
      what === "fired" || what === "escalated"
        ? "alert.firing"
        : what === "resolved"
          ? "alert.resolved"
          : undefined;
    if (!type || key === undefined) return [];
    const id = eventIdOf(`alert ${at} ${what} ${key}`);
    return [{ id, type, at: new Date(at), data: { key, severity, summary } } satisfies Happened];
  });
}

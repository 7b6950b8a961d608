// The only part of the reconciler that speaks RCON (docs/reference/server-states.md#probe).

import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Kube, resources } from "@svc/kube";
import { connectRcon, parsePlayerList, probe, type RconError } from "@svc/rcon";
import { createSemaphore } from "@svc/service/semaphore";
import { namespaceOf, rconPort, rconSecretRef, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { announcementCommand } from "./announcement.ts";
import { clusterIpOf, type Observed, type Probe, type SecretState } from "./observed.ts";
import type { Announcement } from "./plan.ts";

export type RconAccess = {
  /** Reads the password; for a running server a cached one will do. */
  readSecret: (server: Server, isRunning: boolean) => Promise<SecretState>;
  probe: (observed: Observed, signal: AbortSignal) => Promise<Probe>;
  /** False when the message could not be delivered. */
  announce: (observed: Observed, message: Announcement) => Promise<boolean>;
  /** Best effort; waits for an answer as long as the settings say. */
  saveWorld: (observed: Observed) => Promise<void>;
  forget: (name: string) => void;
};

const connectRetryMs = 100;

export function createRconAccess(deps: { kube: Kube; settings: LifecycleSettings }): RconAccess {
  const { kube, settings } = deps;
  const passwords = new Map<string, { password: string; readAt: number }>();
  const probes = createSemaphore(settings.max_probes);

  const readSecret: RconAccess["readSecret"] = async (server, isRunning) => {
    const { name: serverName } = server.metadata;
    const known = passwords.get(serverName);
    if (isRunning && known && Date.now() - known.readAt < settings.password_ttl) {
      return { kind: "present", password: known.password };
    }
    const { name, key } = rconSecretRef(server);
    const secret = await kube.find(resources.secrets, { name, namespace: namespaceOf(server) });
    if (!secret) return { kind: "missing", fresh: randomBytes(16).toString("hex") };
    const password = Buffer.from(secret.data?.[key] ?? "", "base64").toString("utf8");
    if (password === "" || /[\r\n\0]/.test(password)) {
      return { kind: "unusable", problem: `Secret ${name} has no usable password under ${key}.` };
    }
    passwords.set(serverName, { password, readAt: Date.now() });
    return { kind: "present", password };
  };

  const access = (observed: Observed) => {
    const host = clusterIpOf(observed);
    if (host === undefined || observed.secret.kind !== "present") return undefined;
    return { host, port: rconPort, password: observed.secret.password, timeoutMs: settings.probe_timeout };
  };

  return {
    readSecret,
    forget: (name) => void passwords.delete(name),
    probe: async (observed, signal) => {
      const options = access(observed);
      if (!options) return { kind: "none" };
      const mayRetryConnect = observed.status.phase !== "Running";
      return probes.run(async () => {
        try {
          const { list } = await probeWithRetry({ ...options, signal }, mayRetryConnect);
          const count = parsePlayerList(list);
          return count
            ? { kind: "reached", count: { online: count.online, max: count.max } }
            : { kind: "reached" };
        } catch (error) {
          signal.throwIfAborted();
          // The Secret may have been replaced since it was read.
          if ((error as RconError).code === "auth") passwords.delete(observed.server.metadata.name);
          return { kind: "failed", problem: `RCON: ${(error as Error).message}` };
        }
      });
    },
    announce: async (observed, message) => {
      const options = access(observed);
      if (!options) return false;
      const seconds = Math.round(settings.stop_notice / 1_000);
      return run(options, announcementCommand(message, seconds), settings.probe_timeout);
    },
    saveWorld: async (observed) => {
      const options = access(observed);
      if (options) await run(options, "save-all flush", settings.save_timeout);
    },
  };
}

type Options = { host: string; port: number; password: string; timeoutMs: number };

// A pod is often ready a moment before the cluster's routes to it are, so a refused connection is retried at once.
async function probeWithRetry(options: Options & { signal: AbortSignal }, mayRetryConnect: boolean) {
  const endAt = Date.now() + options.timeoutMs;
  for (;;) {
    const timeoutMs = Math.max(1, endAt - Date.now());
    try {
      return await probe({ ...options, timeoutMs });
    } catch (error) {
      const mayRetry =
        mayRetryConnect && (error as RconError).code === "connect" && endAt - Date.now() > 2 * connectRetryMs;
      if (!mayRetry) throw error;
      await delay(connectRetryMs, undefined, { signal: options.signal });
    }
  }
}

async function run(options: Options, command: string, timeoutMs: number): Promise<boolean> {
  try {
    const client = await connectRcon(options);
    try {
      await client.command(command, { timeoutMs });
      return true;
    } finally {
      await client.close();
    }
  } catch {
    return false;
  }
}

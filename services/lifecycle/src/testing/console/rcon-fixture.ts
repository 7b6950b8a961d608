// A server of the cluster that is only its RCON port, on an address of its own, and what a cluster would say of it.

import { type Kube, resources } from "@svc/kube";
import { type RconServer, startRconServer } from "@svc/rcon";
import { rconPort, type Server } from "../../cluster/resource.ts";
import { aServer, emptyRunning } from "../observed.ts";

export type RconFixture = {
  server: Server;
  kube: Kube;
  /** The password in the Secret. */
  secret: { password: string; reads: number };
  /** Starts the port, with another password when one is given. */
  start: (onCommand: (command: string) => string | Promise<string>, password?: string) => Promise<RconServer>;
  close: () => Promise<void>;
};

let last = 1;

export function createRconFixture(): RconFixture {
  last += 1;
  const host = `127.91.${process.pid % 250}.${last}`;
  const secret = { password: "first", reads: 0 };
  const started: RconServer[] = [];
  const find = async (kind: unknown) => {
    if (kind !== resources.secrets) return undefined;
    secret.reads += 1;
    return { data: { password: Buffer.from(secret.password).toString("base64") } };
  };
  return {
    server: {
      ...aServer(),
      status: { ...emptyRunning, endpoint: { mode: "direct", address: `${host}:25565` } },
    },
    kube: { find } as unknown as Kube,
    secret,
    start: async (onCommand, password = secret.password) => {
      const rcon = await startRconServer({ host, port: rconPort, password, onCommand, failureDelayMs: 1 });
      started.push(rcon);
      return rcon;
    },
    close: async () => {
      await Promise.all(started.map((rcon) => rcon.close()));
    },
  };
}

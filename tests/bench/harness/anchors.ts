// The bare building blocks as processes: they need a nats-server (any account) and a database.

import { join } from "node:path";
import { defaultCacheDirs, findNatsServer } from "@svc/local-stack";
import pg from "pg";
import { type Child, startChild } from "./child.ts";

export const root = join(import.meta.dirname, "../../..");

type AnchorPlace = {
  natsUrl: string;
  user: string;
  password: string;
  databaseUrl: string;
  logDir: string;
};

export type Anchors = {
  /** Bare Fastify with P1, P2, P3 and `/list`. */
  gateway: Child & { port: number };
  responder: Child;
  lists: () => Promise<Child & { port: number; tag: string }>;
  publisher: () => Promise<Child>;
};

/** Path of the nats-server that the local stack would take. */
export function natsServer(): Promise<string> {
  const cacheDirs = defaultCacheDirs(process.env, root);
  return findNatsServer({ env: process.env, cacheDirs, progress: (text) => console.error(text) });
}

/** Runs statements on a connection of its own. */
export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Starts gateway and responder, and makes the table of P3 with 10,000 rows. `ending` collects how to stop them. */
export async function startAnchors(place: AnchorPlace, ending: (() => Promise<void>)[]): Promise<Anchors> {
  const env = {
    ANCHOR_NATS_URL: place.natsUrl,
    ANCHOR_NATS_USER: place.user,
    ANCHOR_NATS_PASSWORD: place.password,
    ANCHOR_DATABASE_URL: place.databaseUrl,
  };
  const child = async (file: string) => {
    const started = await startChild(file, { env, logDir: place.logDir });
    ending.push(started.stop);
    return started;
  };
  await runSql(place.databaseUrl, "create table servers (name text primary key, info jsonb not null)");
  const responder = await child("anchors/responder.ts");
  await responder.ask("seed", 10_000);
  await runSql(place.databaseUrl, "analyze servers");
  const gateway = await child("anchors/gateway.ts");
  return {
    gateway: { ...gateway, port: await gateway.ask<number>("port") },
    responder,
    lists: async () => {
      const lists = await child("anchors/lists.ts");
      return { ...lists, port: await lists.ask<number>("port"), tag: await lists.ask<string>("tag") };
    },
    publisher: () => child("anchors/publisher.ts"),
  };
}

// Where the pipeline of a test stores contexts: a folder, or a bucket of a strict S3 server that can go away.

import { existsSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startS3Server } from "@svc/object-store/testing";

export type TestContexts = {
  /** Of builds. */
  settings: string[];
  env: Record<string, string>;
  stored: () => string[];
  age: () => void;
  kill: () => Promise<() => Promise<void>>;
  close: () => Promise<void>;
};

export type ContextsKind = "folder" | "bucket";
const hourMs = 3_600_000;
/** Somebody notices. */
const awayMs = 500;

export const startContexts = (kind: ContextsKind, dataDir: string): Promise<TestContexts> =>
  kind === "folder" ? inFolder(join(dataDir, "contexts")) : inBucket();

async function inFolder(folder: string): Promise<TestContexts> {
  mkdirSync(folder);
  const stored = () =>
    readdirSync(folder).flatMap((one) => {
      // Its last file may go meanwhile.
      const inside = join(folder, one);
      return existsSync(inside) ? readdirSync(inside).map((file) => `${one}/${file}`) : [];
    });
  return {
    settings: [`registry.user_uploads_context=${folder}`],
    env: {},
    stored,
    age: () => {
      const at = (Date.now() - hourMs) / 1_000;
      for (const name of stored()) utimesSync(join(folder, name), at, at);
    },
    kill: () => Promise.reject(new Error("a folder is not a process")),
    close: async () => {},
  };
}

async function inBucket(): Promise<TestContexts> {
  const server = await startS3Server();
  const { endpoint = "", region, bucket, accessKey, secretKey } = server.options();
  return {
    settings: [
      `registry.user_uploads_context=s3://${bucket}/packs`,
      `registry.s3_endpoint=${endpoint}`,
      `registry.s3_region=${region}`,
    ],
    env: { SVC_UPLOADS_ACCESS_KEY: accessKey, SVC_UPLOADS_SECRET_KEY: secretKey },
    stored: () => server.keys().map((key) => key.slice("packs/".length)),
    age: () => server.age(hourMs),
    kill: async () => {
      const restart = await server.goAway();
      return async () => {
        await delay(awayMs);
        await restart();
      };
    },
    close: () => server.stop(),
  };
}

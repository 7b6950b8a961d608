// The production storage service, paused before a step that a test names until the test resumes or kills it. Every
// step is a change: in a bucket, in the cluster, in the database, on the volume.

import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { connectKube, type Kube } from "@svc/kube";
import type { BucketStore, Mesh } from "@svc/mesh";
import { runService } from "@svc/service";
import { kubeconfigFile, settings } from "../config.ts";
import { nameOf } from "../database/named.ts";
import type { Tables } from "../database/tables.ts";
import { startStorage } from "../service.ts";
import { type Effect, stepOf } from "./step-names.ts";

let awaited: string | undefined;
let proceed = () => {};

process.on("message", (received: { stopAt?: string; proceed?: true }) => {
  if (received.stopAt !== undefined) awaited = received.stopAt;
  if (received.proceed) proceed();
});

async function pass(effect: Effect): Promise<void> {
  const step = stepOf(effect);
  if (step === undefined || step !== awaited) return;
  awaited = undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  proceed = resolve;
  process.send?.({ at: step });
  await promise;
}

/** The same object, but these methods first wait for their step. */
function gated<T extends object>(target: T, names: readonly string[], on: string): T {
  return new Proxy(target, {
    get: (object, name) => {
      const value = Reflect.get(object, name);
      if (typeof value !== "function" || !names.includes(String(name))) return value;
      return async (...args: unknown[]) => {
        await pass({ on, method: String(name), args });
        return value.apply(object, args);
      };
    },
  });
}

function gatedMesh(mesh: Mesh): Mesh {
  return new Proxy(mesh, {
    get: (object, name) => {
      if (name !== "bucket") return Reflect.get(object, name);
      return (about: Parameters<Mesh["bucket"]>[0]): BucketStore<unknown> =>
        gated(object.bucket(about), ["create", "update", "delete"], about.name);
    },
  });
}

function gatedDb<T extends object>(db: T): T {
  return new Proxy(db, {
    get: (object, name) => {
      const value = Reflect.get(object, name);
      if (typeof value !== "function") return value;
      if (name !== "transaction") return value.bind(object);
      return () => ({
        execute: async (work: object) => {
          await pass({ on: "db", method: "transaction", args: [nameOf(work)] });
          const begun = value.call(object) as { execute: (work: object) => Promise<unknown> };
          return begun.execute(work);
        },
      });
    },
  });
}

async function gateVolume(): Promise<void> {
  const names = ["writev", "datasync"] as const;
  const probe = await promises.open("/dev/null");
  const handle = Object.getPrototypeOf(probe) as Record<string, (...args: unknown[]) => Promise<unknown>>;
  await probe.close();
  for (const name of names) {
    const call = handle[name];
    handle[name] = async function (this: FileHandle, ...args: unknown[]) {
      await pass({ on: "volume", method: name, args: [] });
      return call?.apply(this, args);
    };
  }
  const { rm } = promises;
  promises.rm = async (...args) => {
    await pass({ on: "volume", method: "rm", args });
    return rm(...args);
  };
  syncBuiltinESMExports();
}

await gateVolume();
const kube: Kube = gated(
  connectKube({ kubeconfigFile: kubeconfigFile() }),
  ["create", "patch", "remove"],
  "kube",
);
await runService<typeof settings, Tables>({
  name: "storage",
  settings,
  migrations: new URL("../../migrations/", import.meta.url),
  poolSize: 6,
  start: (runtime) => {
    const { store, mesh } = runtime;
    const watched = { ...store, db: gatedDb(store.db) };
    return startStorage({ ...runtime, mesh: gatedMesh(mesh), store: watched }, { kube });
  },
});

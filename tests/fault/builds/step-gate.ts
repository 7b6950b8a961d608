// The production service builds, paused before a step that a test names until the test resumes or kills it. Every step is a
// change: of a row, in the cluster, in the folder of contexts, in the registry.

import promises from "node:fs/promises";
import { Agent, type ClientRequest } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { connectKube, type Kube } from "@svc/kube";
import { runService } from "@svc/service";
import pg from "pg";
import { kubeconfigFile, settings } from "../../../services/builds/src/config.ts";
import type { Tables } from "../../../services/builds/src/database.ts";
import { startBuilds } from "../../../services/builds/src/service.ts";
import { stepOfFile, stepOfObject, stepOfRequest, stepOfStatement } from "./step-names.ts";

/** The first step may come before a message does. */
let awaited: string | undefined = process.env["SVC_TEST_STOP_AT"] || undefined;
const paused = new Map<string, () => void>();

process.on("message", (received: { stopAt?: string; proceed?: string }) => {
  if (received.stopAt !== undefined) awaited = received.stopAt;
  if (received.proceed !== undefined) paused.get(received.proceed)?.();
});

async function pass(step: string | undefined): Promise<void> {
  if (step === undefined || step !== awaited) return;
  awaited = undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  paused.set(step, resolve);
  process.send?.({ at: step });
  await promise;
}

/** A statement waits for its step; the commit of its transaction is a step of its own. */
function gateStatements(): void {
  const { prototype } = pg.Client;
  const query = prototype.query as (...args: unknown[]) => Promise<unknown>;
  const written = new WeakMap<object, string>();
  prototype.query = async function (this: pg.Client, ...args: unknown[]) {
    const [given] = args;
    const text = typeof given === "string" ? given : ((given as { text?: string } | undefined)?.text ?? "");
    const isCommit = text === "commit";
    const step = isCommit ? written.get(this) : stepOfStatement(text);
    if (isCommit) written.delete(this);
    else if (step !== undefined) written.set(this, step);
    await pass(isCommit && step !== undefined ? `${step}, committed` : step);
    return query.apply(this, args);
  } as never;
}

function gateFiles(): void {
  for (const name of ["rename", "rm"] as const) {
    const call = promises[name] as (...args: unknown[]) => Promise<unknown>;
    promises[name] = (async (...args: unknown[]) => {
      await pass(stepOfFile(name, String(args[0])));
      return call(...args);
    }) as never;
  }
  syncBuiltinESMExports();
}

/** A request waits before it gets a connection; those that are no step go on in the same turn. */
function gateRequests(): void {
  type AddRequest = (request: ClientRequest, ...rest: unknown[]) => void;
  const prototype = Agent.prototype as unknown as { addRequest: AddRequest };
  const { addRequest } = prototype;
  prototype.addRequest = function (this: Agent, request, ...rest) {
    const { method, protocol, host, path } = request;
    const step = stepOfRequest(method, `${protocol}//${host}${path}`);
    const proceed = () => addRequest.call(this, request, ...rest);
    if (step === undefined) proceed();
    else void pass(step).then(proceed);
  };
}

function gated(kube: Kube): Kube {
  const wait =
    <A extends unknown[], T>(method: "create" | "remove", work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await pass(stepOfObject(method, (args[0] as { kind: string }).kind));
      return work(...args);
    };
  return {
    ...kube,
    create: wait("create", kube.create) as Kube["create"],
    remove: wait("remove", kube.remove) as Kube["remove"],
  };
}

gateStatements();
gateFiles();
gateRequests();
const kube = gated(connectKube({ kubeconfigFile: kubeconfigFile() }));
await runService<typeof settings, Tables>({
  name: "builds",
  settings,
  migrations: new URL("../../../services/builds/migrations/", import.meta.url),
  poolSize: 4,
  start: (runtime) => startBuilds(runtime, { kube }),
});

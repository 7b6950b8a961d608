// Finds out what a store can do.

import { randomUUID } from "node:crypto";
import { GetBucketVersioningCommand, GetObjectLockConfigurationCommand } from "@aws-sdk/client-s3";
import type { Connection } from "./connection.ts";
import { isObjectStoreError } from "./error.ts";
import { codeOf, statusOf } from "./explain.ts";
import { putIf } from "./put.ts";
import type { Capabilities, ObjectStore } from "./types.ts";

type Options = { signal?: AbortSignal };

/** See `ObjectStore.probe`. */
export async function probe(
  connection: Connection,
  remove: ObjectStore["delete"],
  { signal }: Options = {},
): Promise<Capabilities> {
  return {
    conditionalPut: await probeConditionalPut(connection, remove, signal),
    versioning: await readVersioning(connection, signal),
    objectLock: await readObjectLock(connection, signal),
  };
}

/** A store that ignores the condition would let two writers both win: the second put must fail. */
async function probeConditionalPut(
  connection: Connection,
  remove: ObjectStore["delete"],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const key = `svc-probe-${randomUUID()}`;
  const request = { key, bytes: Buffer.from("probe"), only: "absent" as const, signal };
  try {
    await putIf(connection, request);
    await putIf(connection, request);
    return false;
  } catch (error) {
    if (isObjectStoreError(error, "conflict")) return true;
    if (isObjectStoreError(error, "unsupported") || isObjectStoreError(error, "rejected")) return false;
    throw error;
  } finally {
    await remove(key, signal ? { signal } : {});
  }
}

/** Answers of stores that do not have the call, or credentials that may not make it. */
const isNoAnswer = (error: unknown) => [400, 403, 404, 405, 501].includes(statusOf(error));

async function readVersioning(
  { client, bucket, call }: Connection,
  signal: AbortSignal | undefined,
): Promise<Capabilities["versioning"]> {
  try {
    const { Status } = await call("read the versioning", { signal, expect: isNoAnswer }, (attempt) =>
      client.send(new GetBucketVersioningCommand({ Bucket: bucket }), { abortSignal: attempt }),
    );
    if (Status === "Enabled") return "enabled";
    return Status === "Suspended" ? "suspended" : "off";
  } catch (error) {
    if (isNoAnswer(error)) return statusOf(error) === 403 ? "unknown" : "off";
    throw error;
  }
}

async function readObjectLock(
  { client, bucket, call }: Connection,
  signal: AbortSignal | undefined,
): Promise<Capabilities["objectLock"]> {
  try {
    const { ObjectLockConfiguration: lock } = await call(
      "read the object lock",
      { signal, expect: isNoAnswer },
      (attempt) =>
        client.send(new GetObjectLockConfigurationCommand({ Bucket: bucket }), { abortSignal: attempt }),
    );
    if (lock?.ObjectLockEnabled !== "Enabled") return "off";
    const { Mode, Days, Years } = lock.Rule?.DefaultRetention ?? {};
    const days = Days ?? (Years === undefined ? undefined : Years * 365);
    if (Mode === "COMPLIANCE") return { mode: "compliance", days };
    return { mode: Mode === "GOVERNANCE" ? "governance" : "none", days };
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    return statusOf(error) === 403 && codeOf(error) !== "NotImplemented" ? "unknown" : "off";
  }
}

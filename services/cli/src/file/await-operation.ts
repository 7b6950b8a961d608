import { setTimeout as sleep } from "node:timers/promises";
import { files } from "@svc/proto";
import type { External } from "../account/external.ts";
import { CommandError } from "../output.ts";
import { printable } from "./printable.ts";

const pollMs = 500;

/** Waits until a background operation has ended, well or not. */
export async function awaitEnd(external: External, name: string, id: string): Promise<files.FileOp> {
  for (;;) {
    const { ops } = await external.call(files.listOperations, { name });
    const op = ops.find((one) => one.id === id);
    if (op !== undefined && op.state !== "running") return op;
    await sleep(pollMs);
  }
}

/** Waits until a background operation has ended; throws why it failed. */
export async function awaitOperation(external: External, name: string, id: string): Promise<files.FileOp> {
  const op = await awaitEnd(external, name, id);
  if (op.state === "failed")
    throw new CommandError(printable(op.error?.message ?? "the operation failed; try again"));
  return op;
}

import { setTimeout as sleep } from "node:timers/promises";
import { files } from "@svc/proto";
import type { External } from "../account/external.ts";
import { CommandError } from "../output.ts";
import { printable } from "./printable.ts";

const pollMs = 500;

/** Waits until a background operation has ended; throws why it failed. */
export async function awaitOperation(external: External, name: string, id: string): Promise<files.FileOp> {
  for (;;) {
    const { ops } = await external.call(files.listOperations, { name });
    const op = ops.find((one) => one.id === id);
    if (op?.state === "succeeded") return op;
    if (op?.state === "failed")
      throw new CommandError(printable(op.error?.message ?? "the operation failed; try again"));
    await sleep(pollMs);
  }
}

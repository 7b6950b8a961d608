import { down } from "@svc/local-stack";
import { stackHint } from "../hint.ts";
import type { Outcome } from "../output.ts";

/** Stops the stack of a data folder and waits for all processes to end; the data stays. */
export async function stopStack(options: { data: string }): Promise<Outcome> {
  const hasStopped = await down({ data: options.data });
  const text = hasStopped
    ? `svc has stopped; its data is in ${options.data}. Start it again with: ${stackHint("up", options.data)}`
    : `No stack is running on ${options.data}.`;
  return { json: { stopped: hasStopped }, text };
}

import type { Mesh } from "@svc/mesh";
import { isFault } from "@svc/proto";
import { isCode } from "../account/refusal.ts";
import { joinAsOperator } from "../operator-mesh.ts";
import { CommandError } from "../output.ts";

/** Runs work on the mesh as the operator; a refusal becomes a `CommandError`. */
export async function withMesh<T>(data: string, work: (mesh: Mesh) => Promise<T>): Promise<T> {
  const mesh = await joinAsOperator(data);
  try {
    return await work(mesh);
  } catch (error) {
    if (isFault(error)) throw new CommandError(`${error.message} (${error.fault})`);
    throw error;
  } finally {
    await mesh.drain(1_000);
  }
}

const pollMs = 500;
const patienceMs = 120_000;

/** Repeats a question until it has an answer, over NATS or the external face; tolerates a service that restarts meanwhile. */
export async function poll<T>(ask: () => Promise<T | undefined>): Promise<T> {
  let heardAt = Date.now();
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      heardAt = Date.now();
    } catch (error) {
      const isAway = isFault(error) ? error.fault === "unavailable" : isCode(error, "unavailable");
      if (!isAway || Date.now() - heardAt > patienceMs) throw error;
    }
    await new Promise((wake) => setTimeout(wake, pollMs));
  }
}

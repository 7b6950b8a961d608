import { endMarked } from "../process/find-marked.ts";
import type { Layout } from "./layout.ts";

/**
 * Ends the processes of containers that a killed cluster left behind, which the next one would otherwise take over. The
 * cluster marks each of them with the folder of its run.
 */
export async function endContainers({ pods }: Layout, waitMs: number): Promise<boolean> {
  return (await endMarked(`SVC_RUN=${pods}/`, waitMs)) > 0;
}

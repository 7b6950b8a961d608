import { Status, type StatusLook } from "../ui/status.tsx";
import { useWords } from "../words/words.ts";
import type { Phase, ServerRow } from "./row.ts";

const looks: Record<Phase, StatusLook> = {
  Unknown: "unknown",
  Stopped: "asleep",
  Starting: "starting",
  Running: "running",
  Stopping: "stopping",
  Failed: "failed",
};

type PhaseStatusProps = { server: Pick<ServerRow, "phase" | "retiring">; isLive?: boolean };

/** What a server is doing; one that is being given up says so while it sleeps. */
export function PhaseStatus({ server, isLive = false }: PhaseStatusProps) {
  const { phases } = useWords().server;
  const { phase, retiring } = server;
  if (retiring && phase === "Stopped") {
    const word = retiring.delete ? phases.deleting : phases.retiring;
    return <Status look="retiring" word={word} isLive={isLive} />;
  }
  return <Status look={looks[phase]} word={phases[phase]} isLive={isLive} />;
}

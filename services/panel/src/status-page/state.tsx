import { clockOffsetMs } from "../api/clock.ts";
import type { Output } from "../api/operations.ts";
import { useNow } from "../ui/now.ts";
import { Status, type StatusLook } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { useStatusWords } from "../words/status-words.ts";

export type StatusServer = Output<"statusPages.readOverview">["servers"][number];

const looks: Record<StatusServer["state"], StatusLook> = {
  online: "running",
  starting: "starting",
  stopping: "stopping",
  asleep: "asleep",
  maintenance: "retiring",
  unavailable: "failed",
};

const lookMs = 5_000;
/** The service writes every minute; what is older is not claimed to be so now. */
const trustedMs = 3 * 60_000;

export function useIsStale(asOf: string | undefined): boolean {
  const now = useNow(lookMs) + clockOffsetMs();
  return asOf !== undefined && now - Date.parse(asOf) > trustedMs;
}

export function StateWord({ server, isStale }: { server: StatusServer; isStale: boolean }) {
  const { states } = useStatusWords();
  const { state } = server;
  return isStale ? (
    <Status look="unknown" word={states.unknown} isLive />
  ) : (
    <Status look={looks[state]} word={states[state]} isLive />
  );
}

/** What the state means for somebody who wants to play. */
export function StateHelp({ server }: { server: StatusServer }) {
  const words = useStatusWords();
  const now = useNow(lookMs) + clockOffsetMs();
  const { state, until, ready_at: readyAt } = server;
  if (state === "asleep") return <p>{words.asleepHelp}</p>;
  if (state === "unavailable") return <p>{words.unavailableHelp}</p>;
  if (state === "maintenance" && until !== undefined)
    return (
      <p>
        <Time at={until} sentence={words.maintenanceHelp} />
      </p>
    );
  if (state !== "starting" || readyAt === undefined) return null;
  if (Date.parse(readyAt) <= now) return <p>{words.readySoon}</p>;
  return (
    <p>
      <Time at={readyAt} sentence={words.ready} />
    </p>
  );
}

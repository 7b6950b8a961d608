import { Moon, Play } from "lucide-react";
import { useState } from "react";
import { useMaintenanceEnd } from "../announcement/maintenance-end.ts";
import type { ApiError } from "../api/error.ts";
import { host } from "../api/hosts.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Row } from "../ui/layout.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { formatClock, isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { Insist } from "./insist.tsx";
import { Restart } from "./restart.tsx";
import { canBeStopped, type ServerRow } from "./row.ts";
import { PlayOn, WhoPlays } from "./stop-notice.tsx";
import { useDesired } from "./use-desired.ts";

type Target = Pick<
  ServerRow,
  "name" | "phase" | "playersOnline" | "gaveUp" | "retiring" | "stopsAt" | "desiredState"
> & {
  /** Why its world is not free; nobody asks for it in a list. */
  held?: string | undefined;
};

/** A retry leaves the desired state as it is: only reading again shows it. */
const readAgain = ["servers.viewStatus", "servers.fleet", "ownership.listMine"] as const;

/** The button that fits the phase of a server; on its own page a start that failed can be stopped as well as tried again. */
export function WakeOrStop({ server, isMain = false }: { server: Target; isMain?: boolean }) {
  const { phase, stopsAt } = server;
  if (stopsAt !== undefined) return <PlayOn name={server.name} isMain={isMain} />;
  const wake = <Wake server={server} isMain={isMain} />;
  if (!canBeStopped(server)) return wake;
  if (phase === "Running" && isMain)
    return (
      <Row>
        <Stop server={server} />
        <Restart name={server.name} />
      </Row>
    );
  if (phase !== "Failed") return <Stop server={server} />;
  if (!isMain) return wake;
  return (
    <Row>
      {wake}
      <Stop server={server} />
    </Row>
  );
}

function Wake({ server, isMain }: { server: Target; isMain: boolean }) {
  const words = useWords();
  const toast = useToast();
  const { name, phase, retiring, gaveUp, held } = server;
  const wake = useAction("servers.wake", phase === "Failed" ? readAgain : []);
  const desire = useDesired();
  const [coolUntil, setCoolUntil] = useState(0);
  const wait = useCountdown(coolUntil);
  const [isInsisting, setInsisting] = useState(false);
  const maintenanceEnd = useMaintenanceEnd();
  const failed = (error: ApiError) => {
    const end = error.code === "maintenance_window" ? maintenanceEnd() : undefined;
    if (error.code === "maintenance_window" && host === "operator") setInsisting(true);
    else if (end !== undefined) toast({ ...failedToast(words, error), text: words.server.asleepUntil(end) });
    else if (error.code === "cooldown") setCoolUntil(Date.now() + (error.retryAfterSeconds ?? 30) * 1_000);
    else toast(failedToast(words, error));
  };
  const word = () => {
    if (wait > 0) return words.server.cooldown(formatClock(wait));
    if (wake.isPending) return words.server.waking;
    return gaveUp || phase === "Failed" ? words.server.wakeAgain : words.server.wake;
  };
  const whyNot = () => {
    const { reasons } = words;
    if (retiring !== undefined) return reasons.retiring;
    if (phase === "Stopping") return reasons.stopping;
    return wait > 0 ? reasons.cooldown : held;
  };
  return (
    <>
      <Button
        kind={isMain ? "primary" : "plain"}
        icon={<Play size={16} aria-hidden />}
        isPending={wake.isPending}
        whyNot={whyNot()}
        onPress={() => wake.mutate({ name }, { onSuccess: () => desire(name, "Running"), onError: failed })}
        {...(!isMain && { label: `${word()} ${name}` })}
      >
        {word()}
      </Button>
      <Insist name={name} isOpen={isInsisting} onClose={() => setInsisting(false)} />
    </>
  );
}

/** Stops a server; whoever is on it is named first. */
export function Stop({ server }: { server: Target }) {
  const words = useWords();
  const toast = useToast();
  const stop = useAction("servers.stop");
  const desire = useDesired();
  const [isAsking, setAsking] = useState(false);
  const { name, playersOnline } = server;
  const act = () => {
    setAsking(false);
    stop.mutate(
      { name },
      {
        onSuccess: () => desire(name, "Stopped"),
        onError: (error) => toast(failedToast(words, error)),
      },
    );
  };
  return (
    <>
      <Button
        icon={<Moon size={16} aria-hidden />}
        isPending={stop.isPending}
        label={`${words.server.stop} ${name}`}
        onPress={() => (playersOnline > 0 ? setAsking(true) : act())}
      >
        {stop.isPending ? words.server.stopping : words.server.stop}
      </Button>
      <Dialog
        isAlert
        title={words.server.confirmStop(isolate(name))}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        actions={
          <>
            <Button onPress={() => setAsking(false)}>{words.shell.cancel}</Button>
            <Button kind="danger" onPress={act}>
              {words.server.stopServer}
            </Button>
          </>
        }
      >
        <p>{words.server.confirmStopHelp(playersOnline)}</p>
        {isAsking && <WhoPlays name={name} />}
      </Dialog>
    </>
  );
}

import { Archive } from "lucide-react";
import { useEffect, useState } from "react";
import { useAction } from "../api/query.ts";
import { isAtRest } from "../server/row.ts";
import type { ServerStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type MakeBackupProps = { name: string; phase: ServerStatus["phase"]; isBusy: boolean };

/** Backs the world up; of a server that is up it is stopped first. */
export function MakeBackup({ name, phase, isBusy }: MakeBackupProps) {
  const words = useWords();
  const { backups } = words;
  const toast = useToast();
  const [isAsking, setAsking] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const make = useAction("backups.create", ["backups.listJobs"]);
  const stop = useAction("servers.stop", ["servers.viewStatus"]);
  const onError = (error: Parameters<typeof faultWords>[1]) => {
    setWaiting(false);
    toast({ kind: "failed", text: faultWords(words, error) });
  };
  const isAsleep = isAtRest(phase);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the backup starts once, when the server has come to rest
  useEffect(() => {
    if (!isWaiting || !isAsleep) return;
    setWaiting(false);
    make.mutate({ name }, { onError });
  }, [isWaiting, isAsleep]);
  const stopFirst = () => {
    setWaiting(true);
    stop.mutate({ name }, { onError });
  };
  return (
    <>
      <Button
        kind="primary"
        icon={<Archive size={16} aria-hidden />}
        isPending={make.isPending || stop.isPending || isWaiting}
        isDisabled={isBusy}
        onPress={() => (isAsleep ? make.mutate({ name }, { onError }) : setAsking(true))}
      >
        {backups.make}
      </Button>
      {isWaiting && <span role="status">{backups.waitingForSleep}</span>}
      <Confirm
        title={backups.stopFirstTitle(isolate(name))}
        action={backups.stopFirst}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={stopFirst}
      >
        <p>{backups.makeHelp}</p>
        <p>{backups.stopFirstHelp}</p>
      </Confirm>
    </>
  );
}

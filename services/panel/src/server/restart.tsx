import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

/** Restarts a running server; asks first, because it may have players. */
export function Restart({ name }: { name: string }) {
  const words = useWords();
  const { server } = words;
  const toast = useToast();
  const restart = useAction("servers.restart", ["servers.viewStatus", "servers.fleet", "ownership.listMine"]);
  const [isAsking, setAsking] = useState(false);
  const act = () =>
    restart.mutate(
      { name },
      {
        onSuccess: ({ restart_at }) => {
          const isLater = Date.parse(restart_at) > Date.now() + 2_000;
          toast({ kind: "done", text: isLater ? server.restartsSoon : server.restartsNow });
        },
        onError: (error) => toast(failedToast(words, error)),
      },
    );
  return (
    <>
      <Button
        icon={<RotateCw size={16} aria-hidden />}
        isPending={restart.isPending}
        label={`${server.restart} ${name}`}
        onPress={() => setAsking(true)}
      >
        {server.restart}
      </Button>
      <Confirm
        isOpen={isAsking}
        title={server.confirmRestart(isolate(name))}
        action={server.restartServer}
        onClose={() => setAsking(false)}
        onConfirm={act}
      >
        <p>{server.confirmRestartHelp}</p>
      </Confirm>
    </>
  );
}

import { useMaintenanceEnd } from "../announcement/maintenance-end.ts";
import { useAction } from "../api/query.ts";
import { Confirm } from "../ui/confirm.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { useDesired } from "./use-desired.ts";

/** Staff may wake a server although a maintenance window lasts; asked only once that refused it. */
export function Insist({ name, isOpen, onClose }: { name: string; isOpen: boolean; onClose: () => void }) {
  const words = useWords();
  const toast = useToast();
  const wake = useAction("servers.wake");
  const desire = useDesired();
  const end = useMaintenanceEnd()();
  const onConfirm = () =>
    wake.mutate(
      { name, insist: "true" },
      {
        onSuccess: () => desire(name, "Running"),
        onError: (error) => toast(failedToast(words, error)),
      },
    );
  return (
    <Confirm
      title={words.server.insistTitle(isolate(name))}
      action={words.server.insist}
      {...{ isOpen, onClose, onConfirm }}
    >
      <p>{words.server.insistHelp}</p>
      {end !== undefined && <p>{words.server.asleepUntil(end)}</p>}
    </Confirm>
  );
}

import { useState } from "react";
import { useAction } from "../api/query.ts";
import { Checkbox } from "../ui/checkbox.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type RestoreDialogProps = {
  name: string;
  backupId: string;
  when: string;
  /** Entries to put back; the whole world when absent. */
  only: readonly string[] | undefined;
  onClose: () => void;
};

/** Says what a restore replaces and asks for the name of the server. */
export function RestoreDialog({ name, backupId, when, only, onClose }: RestoreDialogProps) {
  const words = useWords();
  const { backups } = words;
  const toast = useToast();
  const [isSafe, setSafe] = useState(true);
  const restore = useAction("backups.restore", ["backups.listJobs", "backups.list"]);
  const act = () =>
    restore.mutate(
      { name, backup_id: backupId, safety_snapshot: isSafe, ...(only && { only: [...only] }) },
      { onError: (error) => toast({ kind: "failed", text: faultWords(words, error) }) },
    );
  return (
    <Confirm
      isOpen
      title={backups.restoreTitle(isolate(name))}
      action={only ? backups.restoreFilesAction(only.length) : backups.restoreAction}
      typed={name}
      onClose={onClose}
      onConfirm={act}
    >
      <p>{only ? backups.restoreFilesHelp(only.length) : backups.restoreHelp(when)}</p>
      <Checkbox label={backups.restoreSafety} isChecked={isSafe} onChange={setSafe} />
      {!isSafe && <p role="alert">{backups.restoreWithoutSafety}</p>}
    </Confirm>
  );
}

import { useState } from "react";
import { Checkbox } from "../ui/checkbox.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import styles from "./backups.module.css";
import { RestorePlan } from "./restore-plan.tsx";

type RestoreDialogProps = {
  name: string;
  backupId: string;
  when: string;
  /** Entries to put back; the whole world when absent. */
  only: readonly string[] | undefined;
  onClose: () => void;
  /** With whether the world as it is now is backed up first. */
  onConfirm: (isSafe: boolean) => void;
};

/** Says what a restore replaces and changes, and asks for the name of the server. */
export function RestoreDialog({ name, backupId, when, only, onClose, onConfirm }: RestoreDialogProps) {
  const { backups } = useWords();
  const [isSafe, setSafe] = useState(true);
  return (
    <Confirm
      isOpen
      title={backups.restoreTitle(isolate(name))}
      action={only ? backups.restoreFilesAction(only.length) : backups.restoreAction}
      typed={name}
      onClose={onClose}
      onConfirm={() => onConfirm(isSafe)}
    >
      <p>{only ? backups.restoreFilesHelp(only.length) : backups.restoreHelp(when)}</p>
      <div className={styles.plan}>
        <RestorePlan name={name} backupId={backupId} only={only} />
      </div>
      <Checkbox label={backups.restoreSafety} isChecked={isSafe} onChange={setSafe} />
      {!isSafe && <p role="alert">{backups.restoreWithoutSafety}</p>}
    </Confirm>
  );
}

import { useState } from "react";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { useWords } from "../words/words.ts";
import type { Backup } from "./backup-row.ts";

/** Writes a label on a backup; an empty one removes it. */
export function LabelDialog({ backup, onClose }: { backup: Backup; onClose: () => void }) {
  const { backups, shell } = useWords();
  const [label, setLabel] = useState(backup.label ?? "");
  const edit = useAction("backups.edit", ["backups.list"]);
  const save = () => edit.mutate({ id: backup.id, label: label.trim() }, { onSuccess: onClose });
  return (
    <Dialog
      isOpen
      title={backups.label}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          <Button kind="primary" isPending={edit.isPending} onPress={save}>
            {backups.labelSave}
          </Button>
        </>
      }
    >
      <Failure error={edit.error} />
      <Form onSubmit={save}>
        <Field
          label={backups.labelField}
          name="label"
          value={label}
          onChange={setLabel}
          maxLength={128}
          autoFocus
        />
      </Form>
    </Dialog>
  );
}

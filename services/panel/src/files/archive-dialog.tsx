import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Checkbox } from "../ui/checkbox.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Stack } from "../ui/layout.tsx";
import { ScrollList } from "../ui/scroll-list.tsx";
import { useToast } from "../ui/toasts.tsx";
import { useFileWords } from "../words/file-words.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { archiveNameOf, whyNoArchive } from "./archive-choice.ts";
import type { Entry } from "./entry.ts";
import styles from "./files.module.css";
import { joinPath } from "./path.ts";

type ArchiveDialogProps = {
  name: string;
  folder: string;
  entries: readonly Entry[];
  /** Chosen from the start. */
  first?: string | undefined;
  onClose: () => void;
};

/** Packs files and folders of a folder as a zip beside them. */
export function ArchiveDialog({ name, folder, entries, first, onClose }: ArchiveDialogProps) {
  const { archive } = useFileWords();
  const { reasons } = useWords();
  const toast = useToast();
  const act = useAction("files.archive", ["files.list"]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(first === undefined ? [] : [first]));
  const [zip, setZip] = useState(archiveNameOf(first));
  const [isTried, setTried] = useState(false);
  const why = whyNoArchive(zip, chosen.size);
  const change = (entry: string, isChosen: boolean) =>
    setChosen((now) => new Set(isChosen ? [...now, entry] : [...now].filter((other) => other !== entry)));
  const done = (made: Output<"files.archive">) => {
    onClose();
    toast(doneToast(archive, { zip, made }));
  };
  const submit = () => {
    setTried(true);
    if (why !== undefined || act.isPending) return;
    act.mutate({ name, path: joinPath(folder, zip), names: [...chosen] }, { onSuccess: done });
  };
  return (
    <FormDialog
      title={archive.title}
      action={archive.action}
      isPending={act.isPending}
      whyNot={chosen.size === 0 ? reasons.choose : undefined}
      error={act.error}
      onClose={onClose}
      onSubmit={submit}
      about={<p>{archive.help}</p>}
    >
      <Stack>
        <Field
          label={archive.name}
          name="zip"
          value={zip}
          onChange={setZip}
          error={isTried && why !== undefined ? archive.faults[why] : undefined}
          autoFocus
        />
        <ScrollList
          label={archive.choose}
          rows={entries}
          keyOf={nameOfEntry}
          className={styles.choices}
          rowClassName={undefined}
        >
          {(entry) => (
            <Checkbox
              label={visible(entry.is_dir ? `${entry.name}/` : entry.name)}
              isChecked={chosen.has(entry.name)}
              onChange={(isChosen) => change(entry.name, isChosen)}
            />
          )}
        </ScrollList>
        <p role="status">{archive.chosen(chosen.size)}</p>
        {act.isPending && <p role="status">{archive.working}</p>}
      </Stack>
    </FormDialog>
  );
}

const nameOfEntry = ({ name }: Entry) => name;

type Words = ReturnType<typeof useFileWords>["archive"];

function doneToast(archive: Words, { zip, made }: { zip: string; made: Output<"files.archive"> }) {
  const { left_out, left_out_count } = made;
  if (left_out_count === 0) return { kind: "done" as const, text: archive.done(isolate(zip)) };
  const [first] = left_out;
  const reason = first && archive.reasons[first.reason];
  const text = archive.doneWithout(isolate(zip), left_out_count);
  return {
    kind: "done" as const,
    text: first && reason ? `${text} ${isolate(visible(first.path))}: ${reason}` : text,
  };
}

import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Select } from "../ui/select.tsx";
import { formatBytes, formatDate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { type Backup, basesOf } from "./backup-row.ts";
import { ChangedFiles } from "./changed-files.tsx";
import { changesSentence } from "./file-changes.ts";

/** The newest ones, of which one is chosen. */
const offered = { limit: 50, offset: 0 } as const;

type ChangesDialogProps = { name: string; backup: Backup; when: string; onClose: () => void };

/** What a backup has otherwise than another one of the same server. */
export function ChangesDialog({ name, backup, when, onClose }: ChangesDialogProps) {
  const { backups, shell } = useWords();
  const { language } = useLanguage();
  const list = useOperation("backups.list", { server: name, ...offered });
  const [chosen, setChosen] = useState<string>();
  const bases = list.data && basesOf(list.data.backups, backup);
  const since = chosen ?? bases?.[0]?.id;
  const titleOf = ({ created_at, label = "" }: Backup) => {
    const date = formatDate(Date.parse(created_at), language);
    return label === "" ? date : `${date} · ${visible(label)}`;
  };
  return (
    <Dialog
      isOpen
      title={backups.changes.title(when)}
      onClose={onClose}
      actions={<Button onPress={onClose}>{shell.close}</Button>}
    >
      {!bases &&
        (list.error ? <Failure error={list.error} retry={() => void list.refetch()} /> : <Loading />)}
      {bases && since === undefined && <Muted>{backups.changes.noOther}</Muted>}
      {bases && since !== undefined && (
        <Stack isTight>
          <Select
            label={backups.changes.since}
            value={since}
            onChange={setChosen}
            options={bases.map((base) => [base.id, titleOf(base)] as const)}
          />
          <Changes key={since} id={backup.id} since={since} />
        </Stack>
      )}
    </Dialog>
  );
}

function Changes({ id, since }: { id: string; since: string }) {
  const { changes: words } = useWords().backups;
  const query = useOperation("backupChanges.listChanges", { id, since, path: "" }, { isCostly: true });
  const { data, error, refetch } = query;
  if (!data) {
    return error ? (
      <Failure error={error} retry={() => void refetch()} />
    ) : (
      <p role="status">{words.loading}</p>
    );
  }
  return <Found found={data} />;
}

function Found({ found }: { found: Output<"backupChanges.listChanges"> }) {
  const { changes: words, allChanges } = useWords().backups;
  const { language } = useLanguage();
  return (
    <>
      <p role="status">{changesSentence(found, { ...words, all: allChanges }, language)}</p>
      <Muted>
        {words.same(found.same)} {!found.exact && words.byTime}
      </Muted>
      <ChangedFiles
        label={words.list}
        found={found}
        say={({ change, size }) => words.one[change](formatBytes(size, language))}
      />
    </>
  );
}

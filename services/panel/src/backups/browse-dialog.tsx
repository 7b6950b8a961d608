import { Folder } from "lucide-react";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { formatBytes, isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import styles from "./backups.module.css";

type Entry = Output<"backups.listFiles">["entries"][number];

type BrowseDialogProps = {
  backupId: string;
  when: string;
  canRestore: boolean;
  onRestore: (paths: readonly string[]) => void;
  onClose: () => void;
};

/** The tree of a backup; entries of it can be chosen and put back. */
export function BrowseDialog({ backupId, when, canRestore, onRestore, onClose }: BrowseDialogProps) {
  const { backups, shell } = useWords();
  const [path, setPath] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const folder = useOperation("backups.listFiles", { id: backupId, path });
  const pathOf = (entry: Entry) => (path === "" ? entry.name : `${path}/${entry.name}`);
  const choose = (entry: Entry, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(pathOf(entry));
    else next.delete(pathOf(entry));
    setChosen(next);
  };
  const entries = folder.data?.entries ?? [];
  return (
    <Dialog
      isOpen
      title={backups.browseTitle(when)}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.close}</Button>
          <Button
            kind="danger"
            isDisabled={!canRestore || chosen.size === 0}
            onPress={() => onRestore([...chosen])}
          >
            {backups.restoreFilesAction(chosen.size)}
          </Button>
        </>
      }
    >
      <Path path={path} onOpen={setPath} />
      {!folder.data &&
        (folder.error ? <Failure error={folder.error} retry={() => void folder.refetch()} /> : <Loading />)}
      {folder.data && entries.length === 0 && <Muted>{backups.browseEmpty}</Muted>}
      <div className={styles.entries}>
        <List label={backups.browseTitle(when)}>
          {entries.map((entry) => (
            <EntryItem
              key={entry.name}
              entry={entry}
              isChosen={chosen.has(pathOf(entry))}
              onChoose={(isChosen) => choose(entry, isChosen)}
              onOpen={() => setPath(pathOf(entry))}
            />
          ))}
        </List>
      </div>
      {folder.data?.truncated && <Muted>{backups.browseTruncated}</Muted>}
    </Dialog>
  );
}

function Path({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const { backups } = useWords();
  const parts = path === "" ? [] : path.split("/");
  return (
    <Row>
      <Button kind="quiet" isDisabled={parts.length === 0} onPress={() => onOpen("")}>
        {backups.browseTop}
      </Button>
      {parts.map((part, at) => (
        <Button
          key={parts.slice(0, at + 1).join("/")}
          kind="quiet"
          isDisabled={at === parts.length - 1}
          onPress={() => onOpen(parts.slice(0, at + 1).join("/"))}
        >
          / <bdi>{visible(part)}</bdi>
        </Button>
      ))}
    </Row>
  );
}

type EntryItemProps = {
  entry: Entry;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
  onOpen: () => void;
};

function EntryItem({ entry, isChosen, onChoose, onOpen }: EntryItemProps) {
  const { backups } = useWords();
  const { language } = useLanguage();
  const { name, is_dir, size } = entry;
  return (
    <ListItem
      title={<Checkbox label={visible(name)} isChecked={isChosen} onChange={onChoose} />}
      details={is_dir ? undefined : formatBytes(size, language)}
      actions={
        is_dir && (
          <Button
            icon={<Folder size={16} aria-hidden />}
            label={backups.openFolder(isolate(name))}
            onPress={onOpen}
          >
            {null}
          </Button>
        )
      }
    />
  );
}

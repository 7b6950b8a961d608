import { Folder } from "lucide-react";
import { useState } from "react";
import { isFileByName, isWithin, startsIn } from "../access/paths.ts";
import { useAccess } from "../access/use-access.ts";
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

type Entry = Pick<Output<"backups.listFiles">["entries"][number], "name" | "is_dir"> & { size?: number };

const below = (path: string, { name }: Entry) => (path === "" ? name : `${path}/${name}`);

/** A path that the access begins at; nobody may list the folder that says what it is. */
function startAt(at: string): { entry: Entry; at: string } {
  return { entry: { name: at, is_dir: !isFileByName(at) }, at };
}

type BrowseDialogProps = {
  backupId: string;
  when: string;
  /** Why nothing can be put back now. */
  whyNotRestore: string | undefined;
  onRestore: (paths: readonly string[]) => void;
  onClose: () => void;
};

/** The tree of a backup; entries of it can be chosen and put back. */
export function BrowseDialog({ backupId, when, whyNotRestore, onRestore, onClose }: BrowseDialogProps) {
  const { backups, reasons, sharing, shell } = useWords();
  const [path, setPath] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { limits, may } = useAccess();
  const starts = startsIn(path, limits?.read_paths);
  const folder = useOperation("backups.listFiles", { id: backupId, path }, { enabled: !starts });
  const choose = (at: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(at);
    else next.delete(at);
    setChosen(next);
  };
  const entries =
    starts?.map(startAt) ?? folder.data?.entries.map((entry) => ({ entry, at: below(path, entry) }));
  const isOutside = [...chosen].some((at) => !isWithin(at, limits?.write_paths));
  let whyNot = whyNotRestore;
  if (!may("backups.restore")) whyNot = sharing.notIncluded(sharing.rightWords["backups.restore"]);
  else if (chosen.size === 0) whyNot ??= reasons.choose;
  else if (isOutside) whyNot ??= backups.chosenOutside;
  return (
    <Dialog
      isOpen
      title={backups.browseTitle(when)}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.close}</Button>
          <Button kind="danger" whyNot={whyNot} onPress={() => onRestore([...chosen])}>
            {backups.restoreFilesAction(chosen.size)}
          </Button>
        </>
      }
    >
      <Path path={path} onOpen={setPath} />
      {starts && <Muted>{sharing.onlyPaths}</Muted>}
      {!entries &&
        (folder.error ? <Failure error={folder.error} retry={() => void folder.refetch()} /> : <Loading />)}
      {entries?.length === 0 && <Muted>{backups.browseEmpty}</Muted>}
      <div className={styles.entries}>
        <List label={backups.browseTitle(when)}>
          {entries?.map(({ entry, at }) => (
            <EntryItem
              key={at}
              entry={entry}
              isChosen={chosen.has(at)}
              onChoose={(isChosen) => choose(at, isChosen)}
              onOpen={() => setPath(at)}
            />
          ))}
        </List>
      </div>
      {!starts && folder.data?.truncated && <Muted>{backups.browseTruncated}</Muted>}
      {isOutside && <p role="alert">{backups.chosenOutside}</p>}
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
      details={is_dir || size === undefined ? undefined : formatBytes(size, language)}
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

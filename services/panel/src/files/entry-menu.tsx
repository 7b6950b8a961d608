import { lazy, Suspense, useState } from "react";
import { useMayWrite } from "../access/use-access.ts";
import { call } from "../api/call.ts";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { useDownload } from "../downloads/use-download.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Menu } from "../ui/menu.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { type Entry, isArchive } from "./entry.ts";
import { NameDialog } from "./name-dialog.tsx";
import { isWorldPath, joinPath } from "./path.ts";
import { useUnzip } from "./unzip-notices.tsx";
import { useIsSeenEmpty } from "./use-listing.ts";

const ArchiveDialog = lazy(() =>
  import("./archive-dialog.tsx").then((module) => ({ default: module.ArchiveDialog })),
);

type EntryMenuProps = {
  name: string;
  folder: string;
  entry: Entry;
  /** Why the world is not free. */
  held: string | undefined;
};

/** What can be done to a file or folder. */
export function EntryMenu({ name, folder, entry, held }: EntryMenuProps) {
  const { files } = useWords();
  const { download } = useDownload();
  const { unzip } = useUnzip(name);
  const [asking, setAsking] = useState<"rename" | "remove" | "pack">();
  const path = joinPath(folder, entry.name);
  const remove = useAction("files.remove", ["files.list"]);
  const mayWrite = useMayWrite()(path);
  const about = { name, path, entry, onClose: () => setAsking(undefined) };
  const dir = entry.is_dir ? "true" : "false";
  if (remove.isPending) return <span role="status">{files.removing}</span>;
  return (
    <>
      <Menu
        label={files.more(isolate(entry.name))}
        whyNot={held}
        actions={[
          {
            word: entry.is_dir ? files.downloadFolder : files.download,
            run: () => void download(() => call("exports.startFile", { name, path, dir })),
          },
          ...(mayWrite && isArchive(entry) ? [{ word: files.unzip, run: () => unzip(path) }] : []),
          ...(mayWrite
            ? [
                { word: files.pack, run: () => setAsking("pack") },
                { word: files.rename, run: () => setAsking("rename") },
                { word: files.remove, run: () => setAsking("remove"), isDanger: true },
              ]
            : []),
        ]}
      />
      {asking === "rename" && <Rename {...about} />}
      {asking === "pack" && (
        <Suspense>
          <ArchiveDialog {...{ name, folder, entries: [entry], first: entry.name, onClose: about.onClose }} />
        </Suspense>
      )}
      <Remove {...about} remove={remove} isOpen={asking === "remove"} />
    </>
  );
}

type AskProps = { name: string; path: string; entry: Entry; onClose: () => void };

function Rename({ name, path, entry, onClose }: AskProps) {
  const words = useWords();
  const { files } = words;
  const toast = useToast();
  const rename = useAction("files.rename", ["files.list"]);
  const done = ({ to }: Output<"files.rename">) => {
    onClose();
    toast({ kind: "done", text: files.renamed(isolate(to)) });
  };
  return (
    <NameDialog
      title={files.renameTitle(isolate(entry.name))}
      label={files.renameField}
      description={files.renameHelp}
      action={files.renameAction}
      first={path}
      isAllowed={isWorldPath}
      isPending={rename.isPending}
      error={rename.error ? faultWords(words, rename.error) : undefined}
      onClose={onClose}
      onDone={(to) => rename.mutate({ name, path, to }, { onSuccess: done })}
    />
  );
}

type RemoveProps = AskProps & { isOpen: boolean; remove: ReturnType<typeof useAction<"files.remove">> };

function Remove({ name, path, entry, isOpen, onClose, remove }: RemoveProps) {
  const words = useWords();
  const { files } = words;
  const toast = useToast();
  // A folder that was seen to be empty costs nothing; of the others nobody knows.
  const isSeenEmpty = useIsSeenEmpty({ name, path });
  const isTyped = entry.is_dir && !isSeenEmpty;
  const act = () =>
    remove.mutate(
      { name, path },
      {
        onSuccess: () => toast({ kind: "done", text: files.removed(isolate(entry.name)) }),
        onError: (error) => toast(failedToast(words, error)),
      },
    );
  return (
    <Confirm
      title={files.removeTitle(isolate(entry.name))}
      action={entry.is_dir ? files.removeFolder : files.removeFile}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={act}
      {...(isTyped && { typed: entry.name })}
    >
      <p>{entry.is_dir ? files.removeFolderHelp : files.removeFileHelp}</p>
    </Confirm>
  );
}

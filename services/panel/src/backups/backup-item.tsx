import { useState } from "react";
import { call } from "../api/call.ts";
import type { ApiError } from "../api/error.ts";
import { useAction } from "../api/query.ts";
import { useDownload } from "../downloads/use-download.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { ListItem } from "../ui/list.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { formatDate } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { BackupDetails, BackupTitle } from "./backup-details.tsx";
import type { Backup, BackupActs, Drill } from "./backup-row.ts";
import { BrowseDialog } from "./browse-dialog.tsx";
import { LabelDialog } from "./label-dialog.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";

type BackupItemProps = { name: string; backup: Backup; drill: Drill | undefined; acts: BackupActs };
type Asked = "restore" | "browse" | "label" | "remove" | undefined;

/** One backup and what can be done with it. */
export function BackupItem({ name, backup, drill, acts }: BackupItemProps) {
  const words = useWords();
  const { backups } = words;
  const { language } = useLanguage();
  const toast = useToast();
  const { download } = useDownload();
  const [asked, setAsked] = useState<Asked>();
  const [only, setOnly] = useState<readonly string[]>();
  const edit = useAction("backups.edit", ["backups.list"]);
  const expire = useAction("backups.expire", ["backups.list"]);
  const begin = useAction("drills.begin", ["drills.list"]);
  const { id, created_at } = backup;
  const when = formatDate(Date.parse(created_at), language);
  const onError = (error: ApiError) => toast({ kind: "failed", text: faultWords(words, error) });
  const done = (text: string) => () => toast({ kind: "done", text });
  const close = () => setAsked(undefined);
  const restore = (paths?: readonly string[]) => {
    setOnly(paths);
    setAsked("restore");
  };
  const pin = () => edit.mutate({ id, pinned: acts.pin === "pin" }, { onError });
  const remove = () => expire.mutate({ id }, { onError, onSuccess: done(backups.removed) });
  const tryOut = () =>
    begin.mutate({ name, backup_id: id }, { onError, onSuccess: done(backups.drillStarted) });
  const save = () => void download(() => call("exports.startBackup", { name, id }));
  const actions: (MenuAction & { isOffered?: boolean })[] = [
    { word: backups.files, run: () => setAsked("browse"), isOffered: acts.browse },
    { word: backups.download, run: save, isOffered: acts.download },
    { word: backups.drill, run: tryOut, isOffered: acts.drill },
    { word: backups.label, run: () => setAsked("label") },
    { word: acts.pin === "unpin" ? backups.unpin : backups.pin, run: pin, isOffered: acts.pin !== "none" },
    { word: backups.remove, run: () => setAsked("remove"), isOffered: acts.remove, isDanger: true },
  ];
  return (
    <>
      <ListItem
        title={<BackupTitle backup={backup} />}
        details={<BackupDetails backup={backup} drill={drill} />}
        actions={
          <>
            <Button label={backups.restoreOf(when)} isDisabled={!acts.restore} onPress={() => restore()}>
              {backups.restore}
            </Button>
            <Menu label={backups.more(when)} actions={actions.filter(({ isOffered = true }) => isOffered)} />
          </>
        }
      />
      {asked === "restore" && (
        <RestoreDialog name={name} backupId={id} when={when} only={only} onClose={close} />
      )}
      {asked === "browse" && (
        <BrowseDialog
          backupId={id}
          when={when}
          canRestore={acts.restore}
          onRestore={restore}
          onClose={close}
        />
      )}
      {asked === "label" && <LabelDialog backup={backup} onClose={close} />}
      <Confirm
        title={backups.removeTitle(when)}
        action={backups.removeAction}
        isOpen={asked === "remove"}
        onClose={close}
        onConfirm={remove}
      >
        <p>{backups.removeHelp}</p>
      </Confirm>
    </>
  );
}

import { type ReactNode, useCallback, useRef, useState } from "react";
import { call } from "../api/call.ts";
import type { ApiError } from "../api/error.ts";
import { useAction } from "../api/query.ts";
import { useDownload } from "../downloads/use-download.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { formatDate } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import type { Backup } from "./backup-row.ts";
import { BrowseDialog } from "./browse-dialog.tsx";
import { ChangesDialog } from "./changes-dialog.tsx";
import { LabelDialog } from "./label-dialog.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";

/** What a row of the list asks for; those with a dialog ask the person first. */
export type BackupAct = "restore" | "browse" | "changes" | "label" | "remove" | "download" | "drill" | "pin";

type Asked = { act: BackupAct; backup: Backup; only?: readonly string[] };

/** Acts on the backups of a list: one set of requests and dialogs for all rows. `act` stays the same function. */
export function useBackupActs(
  name: string,
  whyNotRestore: string | undefined,
): { act: (act: BackupAct, backup: Backup) => void; dialog: ReactNode } {
  const [asked, setAsked] = useState<Asked>();
  const immediate = useImmediateActs(name);
  const latest = useRef(immediate);
  latest.current = immediate;
  const act = useCallback((wanted: BackupAct, backup: Backup) => {
    if (wanted === "pin" || wanted === "drill" || wanted === "download") latest.current[wanted](backup);
    else setAsked({ act: wanted, backup });
  }, []);
  const dialog = asked && (
    <BackupDialog name={name} whyNotRestore={whyNotRestore} asked={asked} ask={setAsked} acts={immediate} />
  );
  return { act, dialog };
}

type ImmediateActs = Record<"pin" | "drill" | "download" | "expire", (backup: Backup) => void> & {
  restore: (backup: Backup, how: { isSafe: boolean; only: readonly string[] | undefined }) => void;
};

/** The requests live as long as the list: a dialog that closes would take the answer of its own with it. */
function useImmediateActs(name: string): ImmediateActs {
  const words = useWords();
  const { backups } = words;
  const toast = useToast();
  const { download } = useDownload();
  const edit = useAction("backups.edit", ["backups.list"]);
  const expire = useAction("backups.expire", ["backups.list"]);
  const restore = useAction("backups.restore", ["backups.listJobs", "backups.list", "restorePlans.plan"]);
  const begin = useAction("drills.begin", ["drills.list"]);
  const onError = (error: ApiError) => toast(failedToast(words, error));
  const done = (text: string) => () => toast({ kind: "done", text });
  return {
    pin: ({ id, pinned_by }) => edit.mutate({ id, pinned: pinned_by === undefined }, { onError }),
    drill: ({ id }) =>
      begin.mutate({ name, backup_id: id }, { onError, onSuccess: done(backups.drillStarted) }),
    download: ({ id }) => void download(() => call("exports.startBackup", { name, id })),
    restore: ({ id }, { isSafe, only }) =>
      restore.mutate(
        { name, backup_id: id, safety_snapshot: isSafe, ...(only && { only: [...only] }) },
        { onError },
      ),
    expire: ({ id }) => expire.mutate({ id }, { onError, onSuccess: done(backups.removed) }),
  };
}

type BackupDialogProps = {
  name: string;
  whyNotRestore: string | undefined;
  asked: Asked;
  ask: (asked: Asked | undefined) => void;
  acts: ImmediateActs;
};

function BackupDialog({ name, whyNotRestore, asked, ask, acts }: BackupDialogProps) {
  const { backups } = useWords();
  const { language } = useLanguage();
  const { act, backup, only } = asked;
  const when = formatDate(Date.parse(backup.created_at), language);
  const close = () => ask(undefined);
  if (act === "restore")
    return (
      <RestoreDialog
        name={name}
        backupId={backup.id}
        when={when}
        only={only}
        onClose={close}
        onConfirm={(isSafe) => acts.restore(backup, { isSafe, only })}
      />
    );
  if (act === "browse")
    return (
      <BrowseDialog
        backupId={backup.id}
        when={when}
        whyNotRestore={whyNotRestore}
        onRestore={(paths) => ask({ act: "restore", backup, only: paths })}
        onClose={close}
      />
    );
  if (act === "changes") return <ChangesDialog name={name} backup={backup} when={when} onClose={close} />;
  if (act === "label") return <LabelDialog backup={backup} onClose={close} />;
  return (
    <Confirm
      isOpen
      title={backups.removeTitle(when)}
      action={backups.removeAction}
      onClose={close}
      onConfirm={() => acts.expire(backup)}
    >
      <p>{backups.removeHelp}</p>
    </Confirm>
  );
}

import { memo } from "react";
import { Button } from "../ui/button.tsx";
import { ListItem } from "../ui/list.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { formatDate } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import type { BackupAct } from "./backup-acts.tsx";
import { BackupDetails, BackupTitle } from "./backup-details.tsx";
import { type Backup, type BackupRights, type Drill, decideActs } from "./backup-row.ts";

type BackupItemProps = BackupRights & {
  backup: Backup;
  drill: Drill | undefined;
  onAct: (act: BackupAct, backup: Backup) => void;
  /** Why no backup can be restored now. */
  whyNot: string | undefined;
};

/** One backup and what can be done with it; it is drawn again only when something about it has changed. */
export const BackupItem = memo(function BackupItem(props: BackupItemProps) {
  const { backup, drill, onAct, whyNot, ...rights } = props;
  const { backups, reasons } = useWords();
  const { language } = useLanguage();
  const acts = decideActs(backup, rights);
  const when = formatDate(Date.parse(backup.created_at), language);
  const action = (word: string, act: BackupAct): MenuAction => ({ word, run: () => onAct(act, backup) });
  const actions: readonly (MenuAction & { isOffered?: boolean })[] = [
    { ...action(backups.files, "browse"), isOffered: acts.browse },
    { ...action(backups.changes.action, "changes"), isOffered: acts.compare },
    { ...action(backups.download, "download"), isOffered: acts.download },
    { ...action(backups.drill, "drill"), isOffered: acts.drill },
    { ...action(backups.label, "label"), isOffered: acts.label },
    { ...action(acts.pin === "unpin" ? backups.unpin : backups.pin, "pin"), isOffered: acts.pin !== "none" },
    { ...action(backups.remove, "remove"), isOffered: acts.remove, isDanger: true },
  ];
  const offered = actions.filter(({ isOffered = true }) => isOffered);
  return (
    <ListItem
      isLong
      title={<BackupTitle backup={backup} />}
      details={<BackupDetails backup={backup} drill={drill} />}
      actions={
        <>
          {!rights.lacks?.includes("backups.restore") && !rights.writesSome && (
            <Button
              label={backups.restoreOf(when)}
              whyNot={acts.restore ? undefined : backup.corrupt ? reasons.damaged : whyNot}
              onPress={() => onAct("restore", backup)}
            >
              {backups.restore}
            </Button>
          )}
          {offered.length > 0 && <Menu label={backups.more(when)} actions={offered} />}
        </>
      }
    />
  );
});

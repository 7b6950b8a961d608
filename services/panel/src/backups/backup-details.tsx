import { Fragment, type ReactNode } from "react";
import { Time } from "../ui/time.tsx";
import { formatBytes, formatDate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import type { Backup, Drill } from "./backup-row.ts";
import styles from "./backups.module.css";

/** When it was made, and what somebody wrote on it. */
export function BackupTitle({ backup }: { backup: Backup }) {
  const { backups } = useWords();
  const { created_at, label = "", pinned_by } = backup;
  return (
    <>
      <Time at={created_at} />
      {label !== "" && (
        <>
          {" · "}
          <bdi>{visible(label)}</bdi>
        </>
      )}
      {pinned_by !== undefined && <span className={styles.pin}>{backups.pinned[pinned_by]}</span>}
    </>
  );
}

/** Why it was made, its size, how long it stays, and whether it is known to work. */
export function BackupDetails({ backup, drill }: { backup: Backup; drill: Drill | undefined }) {
  const { backups } = useWords();
  const { language } = useLanguage();
  const { reason, size_bytes, expires_at, pinned_by, corrupt = false, skipped_entries = 0 } = backup;
  const parts: ReactNode[] = [backups.reasons[reason], backups.size(formatBytes(size_bytes, language))];
  if (pinned_by === undefined) {
    parts.push(
      <>
        {backups.expires} <time dateTime={expires_at}>{formatDate(Date.parse(expires_at), language)}</time>
      </>,
    );
  }
  return (
    <>
      <div>
        {parts.map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
          <Fragment key={at}>
            {at > 0 && " · "}
            {part}
          </Fragment>
        ))}
      </div>
      {corrupt && <div className={styles.bad}>{backups.corrupt}</div>}
      {skipped_entries > 0 && <div className={styles.warning}>{backups.skipped(skipped_entries)}</div>}
      {drill && <DrillResult drill={drill} />}
    </>
  );
}

function DrillResult({ drill }: { drill: Drill }) {
  const { backups } = useWords();
  const { state, boot_seconds, finished_at } = drill;
  const took = state === "passed" && boot_seconds !== undefined ? ` ${backups.drillTook(boot_seconds)}` : "";
  return (
    <div className={state === "failed" ? styles.bad : state === "passed" ? styles.good : styles.warning}>
      {backups.drillStates[state]}
      {took}
      {finished_at !== undefined && (
        <>
          {" · "}
          <Time at={finished_at} />
        </>
      )}
    </div>
  );
}

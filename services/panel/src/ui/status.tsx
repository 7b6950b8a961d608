import { classes } from "./css.ts";
import styles from "./status.module.css";

export type StatusLook = "running" | "starting" | "stopping" | "asleep" | "failed" | "retiring" | "unknown";

const looks: Record<StatusLook, { sign: string; colour: string | undefined }> = {
  running: { sign: "●", colour: styles.running },
  starting: { sign: "◔", colour: styles.starting },
  stopping: { sign: "◑", colour: styles.starting },
  asleep: { sign: "☾", colour: styles.asleep },
  failed: { sign: "▲", colour: styles.failed },
  retiring: { sign: "◇", colour: styles.retiring },
  unknown: { sign: "○", colour: styles.asleep },
};

/** A state as shape, word and colour; `isLive` announces its changes. */
export function Status({ look, word, isLive = false }: { look: StatusLook; word: string; isLive?: boolean }) {
  const { sign, colour } = looks[look];
  return (
    <span className={classes(styles.status, colour)} data-look={look} {...(isLive && { role: "status" })}>
      <span className={styles.sign} aria-hidden="true">
        {`${sign}\ufe0e`}
      </span>
      {word}
    </span>
  );
}

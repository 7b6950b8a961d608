import { classes } from "./css.ts";
import styles from "./status.module.css";

const looks = {
  CRITICAL: { sign: "▲", colour: styles.failed },
  HIGH: { sign: "◆", colour: styles.starting },
  MEDIUM: { sign: "■", colour: styles.retiring },
  LOW: { sign: "●", colour: styles.asleep },
  UNKNOWN: { sign: "○", colour: styles.asleep },
} as const;

/** How bad a finding is, as shape, word and colour. */
export function Severity({ severity, word }: { severity: keyof typeof looks; word: string }) {
  const { sign, colour } = looks[severity];
  return (
    <span className={classes(styles.status, colour)}>
      <span className={styles.sign} aria-hidden="true">
        {`${sign}\ufe0e`}
      </span>
      {word}
    </span>
  );
}

import { type ReactNode, useState } from "react";
import styles from "./disclosure.module.css";

/** One line that unfolds; what is inside is drawn once it was opened. */
export function Disclosure({ summary, children }: { summary: ReactNode; children: ReactNode }) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details
      className={styles.disclosure}
      onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}
    >
      <summary className={styles.summary}>{summary}</summary>
      {wasOpened && <div className={styles.content}>{children}</div>}
    </details>
  );
}

/** Text of a program, as it is. */
export function Preformatted({ label, children }: { label: string; children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre className={styles.pre} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}

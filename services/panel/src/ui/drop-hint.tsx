import type { ReactNode } from "react";
import styles from "./drop-hint.module.css";

/** Covers the page while files are held over it, and says what becomes of them. */
export function DropHint({ children }: { children: ReactNode }) {
  return (
    <div className={styles.hint}>
      <p>{children}</p>
    </div>
  );
}

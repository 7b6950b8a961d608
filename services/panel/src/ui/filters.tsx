import type { ReactNode } from "react";
import styles from "./filters.module.css";

/** The fields that narrow down a list, beside each other as far as there is room. */
export function Filters({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search className={styles.filters} aria-label={label}>
      {children}
    </search>
  );
}

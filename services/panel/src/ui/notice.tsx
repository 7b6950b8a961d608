import type { ReactNode } from "react";
import { classes } from "./css.ts";
import styles from "./notice.module.css";

type NoticeProps = {
  kind?: "info" | "failed" | "waiting" | "done";
  children: ReactNode;
  /** Buttons or links: what can be done about it. */
  actions?: ReactNode;
  /** Announced at once; for what a person has to know before going on. */
  isAlert?: boolean;
};

/** One thing that the person should know, with what can be done. */
export function Notice({ kind = "info", children, actions, isAlert = false }: NoticeProps) {
  return (
    <div
      className={classes(styles.notice, kind !== "info" && styles[kind])}
      {...(isAlert && { role: "alert" })}
    >
      <div className={styles.text}>{children}</div>
      {actions}
    </div>
  );
}

/** The id under which the log has a failed request. */
export function RequestId({ children }: { children: ReactNode }) {
  return <div className={styles.id}>{children}</div>;
}

import type { ReactNode } from "react";
import { visible } from "../words/visible.ts";
import { useFirstWords } from "../words/words.ts";
import { CopyButton } from "./copy-button.tsx";
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

/** The id under which the log has a failed request, to copy for whoever can look there. */
export function RequestId({ id }: { id: string }) {
  const { shell } = useFirstWords();
  return (
    <div className={styles.id}>
      {shell.requestId(visible(id))}
      <CopyButton text={id} what={shell.requestIdName} />
    </div>
  );
}

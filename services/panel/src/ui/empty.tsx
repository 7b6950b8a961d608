import type { ReactNode } from "react";
import styles from "./empty.module.css";
import { Muted, Stack } from "./layout.tsx";

/** Nothing is here: what this would be, and the one next step. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      <Stack isTight>
        <h2>{title}</h2>
        {children !== undefined && <Muted>{children}</Muted>}
        {action}
      </Stack>
    </div>
  );
}

import type { ReactNode, RefObject } from "react";
import { visible } from "../words/visible.ts";
import { classes } from "./css.ts";
import styles from "./page.module.css";

export type PageFrameProps = {
  /** The h1. */
  title: string;
  /** What the thing is called elsewhere, such as in commands; stands in the h1 behind the title. */
  name?: string | undefined;
  /** What stands beside the title. */
  aside?: ReactNode;
  actions?: ReactNode;
  /** For pages of one form. */
  isNarrow?: boolean | undefined;
  heading?: RefObject<HTMLHeadingElement | null>;
  children: ReactNode;
};

/** Heading and place of a page. */
export function PageFrame({ title, name, aside, actions, isNarrow, heading, children }: PageFrameProps) {
  return (
    <div className={classes(styles.page, isNarrow && styles.narrow)}>
      <header className={styles.head}>
        <div className={styles.title}>
          <h1 ref={heading} tabIndex={-1}>
            <bdi>{visible(title)}</bdi>
            {name !== undefined && <bdi className={styles.name}> {name}</bdi>}
          </h1>
          {aside}
        </div>
        {actions}
      </header>
      {children}
    </div>
  );
}

import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { visible } from "../words/visible.ts";
import { classes } from "./css.ts";
import styles from "./page.module.css";

type PageProps = {
  /** The h1. */
  title: string;
  /** What the thing is called elsewhere, such as in commands; stands in the h1 behind the title. */
  name?: string | undefined;
  /** What the document's title begins with; the h1 unless given. */
  parts?: readonly string[];
  /** What stands beside the title. */
  aside?: ReactNode;
  actions?: ReactNode;
  /** For pages of one form. */
  isNarrow?: boolean;
  /** The first data is on its way. */
  isBusy?: boolean;
  children: ReactNode;
};

let shownPath: string | undefined;

/** The frame of every page: title of the document, heading with the focus after a move, and the busy mark. */
export function Page({
  title,
  name,
  parts = [title],
  aside,
  actions,
  isNarrow,
  isBusy = false,
  children,
}: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The address that is shown: while the next page loads the other one is that page's already.
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const documentTitle = visible([...parts, "svc"].join(" · "));
  useEffect(() => {
    document.title = documentTitle;
  }, [documentTitle]);
  useEffect(() => {
    if (pathname === undefined) return;
    const isMove = shownPath !== undefined && shownPath !== pathname;
    shownPath = pathname;
    if (isMove) heading.current?.focus({ preventScroll: true });
  }, [pathname]);
  useEffect(() => {
    document.querySelector("main")?.setAttribute("aria-busy", String(isBusy));
  }, [isBusy]);
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

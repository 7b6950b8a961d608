import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { visible } from "../words/visible.ts";
import { PageFrame, type PageFrameProps } from "./page-frame.tsx";

type PageProps = Omit<PageFrameProps, "heading"> & {
  /** What the document's title begins with; the h1 unless given. */
  parts?: readonly string[];
  /** The first data is on its way. */
  isBusy?: boolean;
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
    <PageFrame
      title={title}
      name={name}
      aside={aside}
      actions={actions}
      isNarrow={isNarrow}
      heading={heading}
    >
      {children}
    </PageFrame>
  );
}

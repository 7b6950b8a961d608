// Pages are fetched when they are opened, or a moment before: as soon as somebody points at a link to one.

import { type ComponentType, lazy } from "react";
import { pages } from "./pages.ts";
import { findRoute, type RoutePath } from "./routes.ts";

/** The component of a route. What cannot be fetched is thrown, for `PageCrash`. */
export function pageOf(path: RoutePath): ComponentType {
  const page = pages[path];
  if ("component" in page) return page.component;
  return lazy(async () => ({ default: (await page.load()).Page }));
}

/** Fetches the script of the page at an address; what fails is fetched again when the page is opened. */
export function fetchPage(path: string): void {
  const route = findRoute(path);
  const page = route && pages[route.path as RoutePath];
  if (page && "load" in page) page.load().catch(() => undefined);
}

const signs = ["pointerover", "focusin", "touchstart"] as const;

/** Fetches pages whose links somebody points at; what they show is read only when they are opened. */
export function watchLinks(): void {
  const note = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest("a") : null;
    if (link?.origin === location.origin && !link.hasAttribute("download")) fetchPage(link.pathname);
  };
  for (const sign of signs) document.addEventListener(sign, note, { passive: true });
}

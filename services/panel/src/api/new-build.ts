// Whether the service has a newer build of the panel than this page (docs/reference/panel.md#live).

import { useEffect, useState } from "react";
import { ownScripts, scriptsOf } from "./build-script.ts";
import { live } from "./live-updates.ts";

const everyMs = 60_000;

async function isOutdated(): Promise<boolean> {
  const own = ownScripts();
  const response = await fetch("/login", { cache: "no-cache", redirect: "error" });
  if (!response.ok) return false;
  const newest = scriptsOf(await response.text());
  return own !== undefined && newest !== undefined && newest !== own;
}

/** Whether a reload would bring the panel, and not what a browser shows without a network. */
export async function isPanelServed(): Promise<boolean> {
  const response = await fetch("/login", { method: "HEAD", cache: "no-store" }).catch(() => undefined);
  return response?.ok ?? false;
}

/** True once another build is served; asked after each break of live updates: a deployment breaks them. */
export function useNewBuild(): boolean {
  const [isOld, setOld] = useState(false);
  useEffect(() => {
    if (isOld) return;
    let hasBroken = false;
    let askedAt = 0;
    return live.subscribe(() => {
      if (live.state() === "away") hasBroken = true;
      if (live.state() !== "live" || !hasBroken || Date.now() - askedAt < everyMs) return;
      askedAt = Date.now();
      isOutdated().then(setOld, () => undefined);
    });
  }, [isOld]);
  return isOld;
}

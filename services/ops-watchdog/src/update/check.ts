import type { updates } from "@svc/proto";
import { type ComponentName, componentNames } from "../config.ts";
import { decideComponent, type Read } from "./decide.ts";
import { readFeed } from "./feed.ts";

export type CheckDeps = {
  /** Version of svc. */
  version: string;
  feeds: Readonly<Record<ComponentName, string>>;
  pinned: readonly string[];
  feedTimeoutMs: number;
  /** Installed versions of what svc runs on; each may reject. */
  installed: Readonly<Record<"postgresql" | "nats" | "kubernetes", () => Promise<string>>>;
  now: () => number;
};

const withinMajor: readonly ComponentName[] = ["postgresql", "node"];

/** Asks every component and its feed; what cannot be asked is part of the report. */
export async function checkUpdates(deps: CheckDeps): Promise<updates.UpdateCheck> {
  const installed: Record<ComponentName, () => Promise<string>> = {
    ...deps.installed,
    platform: async () => deps.version,
    proxy: async () => deps.version,
    node: async () => process.versions.node,
  };
  const components = await Promise.all(
    componentNames.map(async (name) =>
      decideComponent({
        name,
        installed: await read(installed[name]),
        feed: await readFeed(deps.feeds[name], deps.feedTimeoutMs),
        isPinned: deps.pinned.includes(name),
        withinMajor: withinMajor.includes(name),
      }),
    ),
  );
  return { checked_at: new Date(deps.now()).toISOString(), version: deps.version, components };
}

async function read(ask: () => Promise<string>): Promise<Read<string>> {
  try {
    return { kind: "read", value: await ask() };
  } catch (error) {
    return { kind: "failed", error: (error as Error).message.split("\n")[0] ?? "" };
  }
}

// What the server runs, as it is shown and chosen. Pure.

import type { Output } from "../api/operations.ts";

export type Loader = NonNullable<Output<"plugins.list">["loader"]>;
export type Target = { loader: Loader; game_version: string };

/** Names of programs are the same in every language. */
export const loaders: readonly (readonly [Loader, string])[] = [
  ["paper", "Paper"],
  ["purpur", "Purpur"],
  ["folia", "Folia"],
  ["spigot", "Spigot"],
  ["fabric", "Fabric"],
  ["quilt", "Quilt"],
  ["forge", "Forge"],
  ["neoforge", "NeoForge"],
];

/** Undefined while something is missing, or is no version. */
export function targetOf(loader: Loader | "", gameVersion: string): Target | undefined {
  if (loader === "" || !/^[0-9A-Za-z._-]{1,32}$/.test(gameVersion)) return undefined;
  return { loader, game_version: gameVersion };
}

type Plan = Pick<Output<"plugins.plan">, "items" | "problems">;

/** Whether a plan can be carried out, as the service decides it. */
export function isPossible({ items, problems }: Plan, replaceChanged: boolean): boolean {
  if (items.length === 0) return false;
  return problems.every(({ goes_on }) => goes_on === "yes" || (goes_on === "ask" && replaceChanged));
}

// The pictures of docs/guide, in the order in which they are taken. Each begins where the one before ended.

import { health } from "../../../services/panel/src/words/en/health.ts";
import { en } from "../../../services/panel/src/words/en/index.ts";
import { isolate } from "../../../services/panel/src/words/format.ts";
import type { Stack } from "../../flow/stack.ts";
import type { Person } from "../person.ts";

export type Scene = {
  stack: Stack;
  /** At the operator console. */
  owner: Person;
  /** At the panel; owns survival, creative and skyblock. */
  lena: Person;
  open: (person: Person, path: string) => Promise<void>;
};

type Shot = {
  name: string;
  who: "owner" | "lena";
  path?: string;
  /** Brings the page into the state that is shown. */
  act?: (person: Person, fixture: Scene) => Promise<void>;
  /** Also in the dark, as `<name>-dark`. */
  isDarkToo?: boolean;
  /** As on a phone, as `<name>-phone`. */
  isPhoneToo?: boolean;
  height?: number;
};

const shown = (text: string | RegExp) => async (person: Person) => person.sees(text);
const pressed = (word: string, seen: string) => async (person: Person) => {
  await person.press("button", word);
  await person.sees(seen);
};

export const shots: readonly Shot[] = [
  {
    name: "overview-operator",
    who: "owner",
    path: "/",
    act: shown(/at most/),
    isDarkToo: true,
    height: 760,
  },
  { name: "overview", who: "lena", path: "/", act: shown("Alex_builds"), isPhoneToo: true },
  { name: "servers", who: "owner", path: "/servers", act: shown("Bed Wars") },
  { name: "console", who: "lena", path: "/servers/survival", act: talk, isDarkToo: true, height: 900 },
  { name: "players", who: "lena", path: "/servers/survival/players", act: shown(en.players.wakeRights) },
  { name: "backups", who: "lena", path: "/servers/skyblock/backups", act: shown("market day") },
  { name: "restore", who: "lena", act: restore },
  { name: "browse", who: "lena", path: "/servers/skyblock/backups", act: browse },
  { name: "files", who: "lena", path: "/servers/skyblock/files", act: shown("rules.txt") },
  { name: "editor", who: "lena", path: "/servers/skyblock/files?open=rules.txt", act: shown(en.files.save) },
  { name: "schedules", who: "lena", path: "/servers/skyblock/schedules", act: shown("Nightly restart") },
  { name: "schedule-new", who: "lena", act: pressed(en.schedules.create, en.schedules.runs), height: 1_000 },
  {
    name: "luckperms",
    who: "lena",
    path: "/servers/survival/luckperms?player=Alex_builds",
    act: shown(en.faults.luckperms_missing),
  },
  {
    name: "server-settings",
    who: "lena",
    path: "/servers/skyblock/settings",
    act: shown(en.settings.giveUp),
  },
  { name: "account", who: "lena", path: "/account", act: shown(en.account.thisSession), height: 1_180 },
  { name: "create", who: "owner", path: "/servers/new", act: fillCreate },
  { name: "users", who: "owner", path: "/admin/users", act: shown("tomas.novak") },
  { name: "user", who: "owner", act: openUser, height: 1_000 },
  { name: "audit", who: "owner", path: "/admin/audit", act: shown(en.audit.actions["user.create"]) },
  { name: "health", who: "owner", path: "/admin/health", act: shown(health.offsite.title), height: 1_000 },
  {
    name: "updates",
    who: "owner",
    path: "/admin/updates",
    act: shown(health.bundles.rehearsed),
    height: 1_420,
  },
  { name: "images", who: "owner", path: "/admin/images", act: shown(en.images.allowed) },
  {
    name: "move",
    who: "owner",
    path: "/servers/skyblock/settings",
    act: shown(en.settings.giveUp),
    height: 1_420,
  },
];

async function talk(person: Person): Promise<void> {
  await person.sees("Alex_builds");
  await person.sees(/castle gate/);
  await person.fill(en.serverConsole.command, "gamemode c");
  await person.sees("gamemode creative");
  await person.page.evaluate(() => scrollTo(0, 0));
}

async function restore(person: Person): Promise<void> {
  await person.page.locator('button[aria-label^="Restore the backup"]').click();
  await person.sees(en.backups.restoreSafety);
  await person.seesNo(en.backups.plan.loading);
}

async function browse(person: Person): Promise<void> {
  await person.page.locator('button[aria-label^="More for the backup"]').click();
  await person.page.locator(`::-p-aria([name="${en.backups.files}"][role="menuitem"])`).click();
  await person.sees("rules.txt");
}

async function fillCreate(person: Person): Promise<void> {
  await person.fill(en.create.name, "winter-village");
  await person.fill(en.create.displayName, "Winter Village");
}

async function openUser(person: Person): Promise<void> {
  await person.press("link", isolate("lena").slice(1, -1));
  await person.sees(en.users.quotaSave);
}

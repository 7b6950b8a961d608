import assert from "node:assert/strict";
import { test } from "node:test";
import { isUnknownCommand, parseInfoPage, splitGroups } from "./luck-perms.ts";

const header = (page: number, pages: number, entries: number) =>
  `§8§l[§b§lL§3§lP§8§l]§r §balice's Permissions:  §7(page §f${page}§7 of §f${pages}§7 - §f${entries}§7 entries)`;

test("a page of LuckPerms 5 is read: green is granted, red is denied, contexts follow in brackets", () => {
  const reply = [
    header(1, 3, 45),
    "§3> §aessentials.fly §8(§7server=§fsurvival§8) §8(§7world=§fnether§8)",
    "§3> §cworldedit.*",
    "§3> §agroup.builder ",
    "§2-    expires in 3 days",
  ].join("\n");
  assert.deepEqual(parseInfoPage(reply), {
    pages: 3,
    permissions: [
      { node: "essentials.fly", value: true, world: "nether" },
      { node: "worldedit.*", value: false },
      { node: "group.builder", value: true },
    ],
  });
});

test("a page of LuckPerms 4 is read, with its words instead of colours", () => {
  const reply = [
    "[LP] alice's Permissions:  (page 1 of 1 - 2 entries)",
    "> essentials.fly (true) (world=nether)",
    "> essentials.god (false)",
  ].join("\r\n");
  assert.deepEqual(parseInfoPage(reply), {
    pages: 1,
    permissions: [
      { node: "essentials.fly", value: true, world: "nether" },
      { node: "essentials.god", value: false },
    ],
  });
});

test("a player without permissions or an unknown one has none, on one page", () => {
  for (const reply of [
    "[LP] alice does not have any permissions set.",
    "[LP] A user for eve could not be found.",
    "",
  ])
    assert.deepEqual(parseInfoPage(reply), { pages: 1, permissions: [] });
});

test("granted groups without a world are groups, everything else is a permission", () => {
  const permissions = [
    { node: "group.builder", value: true },
    { node: "group.builder", value: true },
    { node: "group.banned", value: false },
    { node: "group.guest", value: true, world: "nether" },
    { node: "group.", value: true },
    { node: "essentials.fly", value: true },
  ];
  assert.deepEqual(splitGroups(permissions), {
    groups: ["builder"],
    permissions: permissions.slice(2),
  });
});

const missing: Record<string, [reply: string, isMissing: boolean]> = {
  vanilla: ["Unknown or incomplete command, see below for error\nlp user alice<--[HERE]", true],
  Spigot: ['Unknown command. Type "/help" for help.', true],
  "Paper with colours": ["§cUnknown or incomplete command, see below for error§r\n§7lp<--[HERE]", true],
  "the demo server": ['Unknown or incomplete command. Type "help" for a list.', true],
  "LuckPerms that refuses a word": ["[LP] Unknown command: lp user alice permision", false],
  "LuckPerms that did it": ["[LP] Set essentials.fly to true for alice in context global.", false],
  "no reply": ["", false],
};
for (const [fact, [reply, isMissing]] of Object.entries(missing)) {
  test(`LuckPerms is ${isMissing ? "missing" : "there"}: ${fact}`, () =>
    assert.equal(isUnknownCommand(reply), isMissing));
}

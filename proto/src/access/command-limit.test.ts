import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CommandLimits, CommandPattern, isCommandAllowed } from "./command-limit.ts";

const allow = (...allow_commands: string[]): CommandLimits => ({ allow_commands });
const deny = (...deny_commands: string[]): CommandLimits => ({ deny_commands });

type Case = [line: string, limits: CommandLimits, isAllowed: boolean];
const cases: Record<string, Case[]> = {
  "without patterns everything passes": [
    ["op eve", {}, true],
    ["op eve", deny(), true],
    ["execute run op eve", {}, true],
  ],
  "an empty list of what is allowed allows nothing": [["list", allow(), false]],
  "a pattern is the beginning, word by word": [
    ["list", allow("list"), true],
    ["list uuids", allow("list"), true],
    ["listen", allow("list"), false],
    ["gamemode survival eve", allow("gamemode survival"), true],
    ["gamemode creative eve", allow("gamemode survival"), false],
    ["gamemode", allow("gamemode survival"), false],
    ["say hi", allow("list", "say"), true],
  ],
  "a star stands for any text": [
    ["tp eve 1 2 3", allow("tp * 1 2"), true],
    ["tp eve 1 22 3", allow("tp * 1 2"), false],
    ["tp eve 1 22 1 2", allow("tp * 1 2"), true],
    ["whitelist add eve", allow("whitelist *"), true],
    ["anything at all", allow("*"), true],
    ["gamemode spectator eve", allow("game* spec*"), true],
  ],
  "the case of the first word does not matter": [
    ["LIST", allow("list"), true],
    ["list", allow("List"), true],
    ["gamemode SURVIVAL", allow("gamemode survival"), false],
    ["OP eve", deny("op"), false],
    ["gamerule KEEPinventory true", deny("gamerule keepInventory"), false],
  ],
  "spaces that are doubled count once": [
    ["  gamemode   survival eve", allow("gamemode survival"), true],
    ["gamerule  keepInventory", deny("gamerule keepInventory"), false],
  ],
  "a denial wins over an allowance": [
    ["stop", { ...allow("*"), ...deny("stop") }, false],
    ["list", { ...allow("*"), ...deny("stop") }, true],
    ["stopwatch", deny("stop"), true],
  ],
  "a denial reaches other spellings of the same command": [
    ["minecraft:stop", deny("stop"), false],
    ["Bukkit:STOP now", deny("stop"), false],
    ["/stop", deny("stop"), false],
    ["//stop", deny("stop"), false],
    ["minecraft:/stop", deny("stop"), false],
    ["stop", deny("minecraft:stop"), false],
    ["a:b:stop", deny("stop"), false],
  ],
  "a denial of a namespace denies that alone": [
    ["minecraft:kill", deny("minecraft:*"), false],
    ["kill", deny("minecraft:*"), true],
  ],
  "an allowance is taken as it is written": [
    ["minecraft:list", allow("list"), false],
    ["minecraft:list", allow("minecraft:list"), true],
    ["/list", allow("list"), false],
    ["/wand", allow("/wand"), true],
  ],
  "commands that carry others need a pattern of their own name": [
    ["execute run op eve", deny("stop"), false],
    ["minecraft:execute run list", deny("stop"), false],
    ["/execute run list", deny("stop"), false],
    ["sudo eve op eve", deny("stop"), false],
    ["function my:pack", deny("stop"), false],
    ["return run op eve", deny("stop"), false],
    ['setblock 0 0 0 command_block{Command:"op eve"}', deny("stop"), false],
    ["lp user eve permission set *", deny("stop"), false],
    ["op eve", deny("stop"), false],
    ["execute run list", allow("*"), false],
    ["execute run list", allow("e*"), false],
    ["execute run list", allow("execute"), true],
    ["EXECUTE run list", allow("execute"), true],
    ["minecraft:execute run list", allow("execute"), false],
    ["op eve", allow("*", "op"), true],
  ],
  "nothing that is denied may stand anywhere in a carrier": [
    ["execute as @a run stop", { ...allow("execute"), ...deny("stop") }, false],
    ["execute as @a run minecraft:stop", { ...allow("execute"), ...deny("stop") }, false],
    ["execute as @a run /STOP", { ...allow("execute"), ...deny("stop") }, false],
    ["execute run execute run stop", { ...allow("execute"), ...deny("stop") }, false],
    ["execute   run   stop", { ...allow("execute"), ...deny("stop") }, false],
    ['setblock 0 0 0 x{Command:"stop now"}', { ...allow("setblock"), ...deny("stop") }, false],
    [
      "execute run gamerule keepInventory true",
      { ...allow("execute"), ...deny("gamerule keepInventory") },
      false,
    ],
    ["execute run say hi", { ...allow("execute"), ...deny("stop") }, true],
    ["say stop", deny("stop"), true],
  ],
  "what no game has as a first word is refused as soon as there is a pattern": [
    ["\u00a0op eve", deny("stop"), false],
    ["\uff4fp eve", deny("stop"), false],
    ["\u200bop eve", deny("stop"), false],
    ["op\u0000 eve", deny("stop"), false],
    ["say a\nop eve", allow("say"), false],
    ["say a\u2028op eve", allow("say"), false],
    ["", deny("stop"), false],
    ["", allow("*"), false],
  ],
};
for (const [fact, rows] of Object.entries(cases))
  describe(fact, () => {
    for (const [line, limits, isAllowed] of rows)
      test(`${JSON.stringify(line)} with ${JSON.stringify(limits)}`, () =>
        assert.equal(isCommandAllowed(line, limits), isAllowed));
  });

describe("a pattern", () => {
  const stored: [given: string, kept: string][] = [
    ["/list", "list"],
    ["  gamemode   survival ", "gamemode survival"],
    ["//wand", "/wand"],
    ["*", "*"],
  ];
  for (const [given, kept] of stored)
    test(`${JSON.stringify(given)} is kept as ${JSON.stringify(kept)}`, () =>
      assert.equal(CommandPattern.parse(given), kept));
  for (const given of ["", "/", "   ", "a\nb", "\u00a0", "\uff4fp", "x".repeat(201)])
    test(`${JSON.stringify(given)} is refused`, () => assert.ok(!CommandPattern.safeParse(given).success));
});

/** Numbers that are the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

describe("for every command that is made up", () => {
  const words = [
    "op",
    "OP",
    "minecraft:op",
    "/op",
    "x:/op",
    "execute",
    "run",
    "as",
    "@a",
    "say",
    "list",
    "a:b:op",
    "  ",
  ];
  const random = numbers(7);
  const pick = () => words[(random.next().value >>> 8) % words.length] ?? "";
  const lines = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 1 + ((random.next().value >>> 8) % 6) }, pick).join(" "),
  );
  const beginsWithOp = (line: string) => /^ *(\S*:)?\/*op( |$)/i.test(line);
  test("none that begins with `op` in any spelling passes a denial of it", () => {
    for (const line of lines)
      for (const limits of [deny("op"), { ...allow("*", "op", "execute"), ...deny("op") }])
        if (isCommandAllowed(line, limits)) assert.ok(!beginsWithOp(line), line);
  });
  test("none that carries `op` in any spelling passes it, even if `execute` is allowed", () => {
    for (const line of lines)
      if (isCommandAllowed(line, { ...allow("*", "execute"), ...deny("op") }))
        assert.ok(!/^ *execute /.test(line) || !/ (\S*:)?\/*op( |$)/i.test(line), line);
  });
  test("a list of what is allowed lets through only what begins like it", () => {
    for (const line of lines)
      if (isCommandAllowed(line, allow("list", "say"))) assert.match(line.trim(), /^(list|say)( |$)/i);
  });
  test("a denial never lets anything through that passes without it", () => {
    for (const line of lines)
      if (isCommandAllowed(line, { ...allow("list", "execute"), ...deny("say") }))
        assert.ok(isCommandAllowed(line, allow("list", "execute")), line);
  });
});

test("the longest command against the most hostile patterns is decided without backtracking", () => {
  const hostile = Array.from({ length: 50 }, () => `a${"*a".repeat(99)}b`.slice(0, 200));
  const line = `a ${"a".repeat(1_022)}`;
  const before = process.cpuUsage();
  for (let n = 0; n < 20; n++) isCommandAllowed(line, { allow_commands: hostile, deny_commands: hostile });
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user} µs of CPU`);
});

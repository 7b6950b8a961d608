import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ScheduleInput, validateInput } from "./input.ts";
import { detailOf, warningCommand } from "./messages.ts";

const base: ScheduleInput = { action: "restart", weekdays: 127, timezone: "Europe/Berlin" };
const following = (count: number): Partial<ScheduleInput> => ({
  next_steps: Array.from({ length: count }, () => ({ action: "stop" })),
});
const second = (more: object): Partial<ScheduleInput> => ({ next_steps: [{ action: "stop", ...more }] });
const command = (text: string): Partial<ScheduleInput> => ({ action: "command", command: text });

describe("what is stored", () => {
  const stored = (changes: Partial<ScheduleInput>) => {
    const validated = validateInput({ ...base, ...changes });
    assert.equal(validated.kind, "fine", JSON.stringify(validated));
    return validated.kind === "fine" ? validated.settings : assert.fail();
  };
  test("the defaults are daily at midnight, without a warning and enabled", () => {
    assert.deepEqual(stored({}), {
      action: "restart",
      label: "",
      command: "",
      every_minutes: 0,
      minute_of_day: 0,
      weekdays: 127,
      timezone: "Europe/Berlin",
      warn_minutes: 0,
      enabled: true,
      only_if: "",
      next_steps: [],
      ...{ trigger: "", trigger_minutes: 0, pause_minutes: 0 },
    });
  });
  test("a task with a trigger has no time and no warning, and waits five minutes unless it says otherwise", () => {
    const given = { every_minutes: 60, minute_of_day: 300, weekdays: 1, warn_minutes: 5 };
    const kept = ({ trigger, trigger_minutes, pause_minutes, ...more }: ReturnType<typeof stored>) => [
      ...[trigger, trigger_minutes, pause_minutes],
      ...[more.every_minutes, more.minute_of_day, more.weekdays, more.warn_minutes],
    ];
    const timeless = [0, 0, 127, 0];
    assert.deepEqual(kept(stored({ ...given, trigger: "server_empty" })), [
      "server_empty",
      5,
      5,
      ...timeless,
    ]);
    const exact = { trigger: "server_empty", trigger_minutes: 0, pause_minutes: 1_440 };
    assert.deepEqual(kept(stored(exact)), ["server_empty", 0, 1_440, ...timeless]);
    const other = { ...given, trigger: "backup_failed", trigger_minutes: 9, pause_minutes: 1 };
    assert.deepEqual(kept(stored(other)), ["backup_failed", 0, 1, ...timeless]);
    const { trigger_minutes, pause_minutes } = stored({ trigger_minutes: 9, pause_minutes: 9 });
    assert.deepEqual([trigger_minutes, pause_minutes], [0, 0]);
  });
  test("one leading slash of a command is dropped", () => {
    assert.equal(stored(command(" /say hi ")).command, "say hi");
    assert.equal(stored(command("//wand")).command, "/wand");
  });
  test("a command and a start have no warning", () => {
    assert.equal(stored({ ...command("list"), warn_minutes: 10 }).warn_minutes, 0);
    assert.equal(stored({ action: "start", warn_minutes: 10 }).warn_minutes, 0);
    assert.equal(stored({ action: "stop", warn_minutes: 10 }).warn_minutes, 10);
  });
  test("the time of day is ignored for a repeating task", () => {
    assert.equal(stored({ every_minutes: 60, minute_of_day: 300 }).minute_of_day, 0);
  });
  test("a command may have 1024 characters", () => {
    assert.equal(stored(command("x".repeat(1_024))).command.length, 1_024);
  });
  test("a step waits for nothing, has no condition, and loses the slash of its command", () => {
    const next_steps = [
      { action: "command", command: " /say hi " },
      { action: "stop", only_if: "" },
    ];
    assert.deepEqual(stored({ next_steps }).next_steps, [
      { action: "command", command: "say hi", wait_seconds: 0 },
      { action: "stop", command: "", wait_seconds: 0 },
    ]);
    const step = { action: "backup", wait_seconds: 3_600, only_if: "previous_failed" };
    assert.deepEqual(stored({ next_steps: [step] }).next_steps, [{ ...step, command: "" }]);
    assert.equal(stored({ only_if: "empty" }).only_if, "empty");
  });
  test("a schedule may have ten steps", () => {
    assert.equal(stored(following(9)).next_steps.length, 9);
  });
  test("commands may follow each other every quarter of an hour", () => {
    const next_steps = [command("list"), command("say hi")] as never;
    assert.equal(stored({ ...command("list"), every_minutes: 15, next_steps }).every_minutes, 15);
  });
  test("a label may have 64 characters of any script", () => {
    assert.equal([...stored({ label: "🌍".repeat(64) }).label].length, 64);
  });
});

describe("what is refused", () => {
  const table: [fact: string, changes: Partial<ScheduleInput>, fault: "bad_schedule" | "bad_request"][] = [
    ["an action nobody knows", { action: "explode" }, "bad_schedule"],
    ["a label of 65 characters", { label: "x".repeat(65) }, "bad_schedule"],
    ["a label of two lines", { label: "a\nb" }, "bad_schedule"],
    ["an interval that is none of the list", { every_minutes: 45 }, "bad_schedule"],
    ["a restart every quarter of an hour", { every_minutes: 15 }, "bad_schedule"],
    ["a stop every half hour", { action: "stop", every_minutes: 30 }, "bad_schedule"],
    ["a start every half hour", { action: "start", every_minutes: 30 }, "bad_schedule"],
    ["a backup every half hour", { action: "backup", every_minutes: 30 }, "bad_schedule"],
    ["a minute after midnight", { minute_of_day: 1_440 }, "bad_schedule"],
    ["half a minute", { minute_of_day: 0.5 }, "bad_schedule"],
    ["no weekday", { weekdays: 0 }, "bad_schedule"],
    ["an eighth weekday", { weekdays: 128 }, "bad_schedule"],
    ["a zone nobody knows", { timezone: "Europe/Atlantis" }, "bad_schedule"],
    ["no zone", { timezone: "" }, "bad_schedule"],
    ["the zone of whatever machine it runs on", { timezone: "Local" }, "bad_schedule"],
    ["a bare offset", { timezone: "+01:00" }, "bad_schedule"],
    ["a warning two minutes before", { warn_minutes: 2 }, "bad_schedule"],
    ["a wrong warning although it would be dropped", { ...command("list"), warn_minutes: 2 }, "bad_schedule"],
    ["a command task without a command", { action: "command" }, "bad_request"],
    ["a command of a slash", command("/"), "bad_request"],
    ["a command of two lines", command("say a\nop me"), "bad_request"],
    ["a command with a carriage return", command("say a\rop me"), "bad_request"],
    ["a command with a line separator", command("say a\u2028op me"), "bad_request"],
    ["a command with an escape", command("say \u001b[2J"), "bad_request"],
    ["a command with half a character", command("say \ud800"), "bad_request"],
    ["a command of 1025 characters", command("x".repeat(1_025)), "bad_request"],
    ["a command of 1447 bytes", command(`${"字".repeat(482)}x`), "bad_request"],
    ["a command for a restart", { command: "list" }, "bad_request"],
    ["eleven steps", following(10), "bad_schedule"],
    ["a second action nobody knows", second({ action: "explode" }), "bad_schedule"],
    ["a wait of over an hour", second({ wait_seconds: 3_601 }), "bad_schedule"],
    ["a wait of half a second", second({ wait_seconds: 0.5 }), "bad_schedule"],
    ["a wait into the past", second({ wait_seconds: -1 }), "bad_schedule"],
    ["a condition nobody knows", second({ only_if: "raining" }), "bad_schedule"],
    ["a condition of what was before the first step", { only_if: "previous_failed" }, "bad_schedule"],
    [
      "a stop behind a command every quarter of an hour",
      { ...command("list"), every_minutes: 15, ...second({}) },
      "bad_schedule",
    ],
    ["a trigger nobody knows", { trigger: "full_moon" }, "bad_schedule"],
    ["a trigger in capitals", { trigger: "Server_Empty" }, "bad_schedule"],
    ["being empty for less than nothing", { trigger: "server_empty", trigger_minutes: -1 }, "bad_schedule"],
    ["being empty for half a minute", { trigger: "server_empty", trigger_minutes: 0.5 }, "bad_schedule"],
    ["being empty for over a day", { trigger: "server_empty", trigger_minutes: 1_441 }, "bad_schedule"],
    ["wrong minutes although they would be dropped", { trigger_minutes: -1 }, "bad_schedule"],
    ["no pause", { trigger: "server_crashed", pause_minutes: 0 }, "bad_schedule"],
    ["a pause of over a day", { trigger: "server_crashed", pause_minutes: 1_441 }, "bad_schedule"],
    ["no weekday beside a trigger", { trigger: "server_crashed", weekdays: 0 }, "bad_schedule"],
    ["a wrong interval beside a trigger", { trigger: "server_crashed", every_minutes: 45 }, "bad_schedule"],
    ["a trigger without a zone", { trigger: "server_crashed", timezone: "" }, "bad_schedule"],
    ["a second step without its command", second({ action: "command" }), "bad_request"],
    ["a second step whose command has two lines", second(command("say a\nop me")), "bad_request"],
    ["a second step that stops with a command", second({ command: "list" }), "bad_request"],
  ];
  for (const [fact, changes, fault] of table) {
    test(`${fact} is ${fault}`, () => {
      const validated = validateInput({ ...base, ...changes });
      assert.equal(validated.kind === "refused" && validated.fault, fault);
    });
  }
});

test("what is wrong with a step names it", () => {
  const messageOf = (changes: Partial<ScheduleInput>) => {
    const validated = validateInput({ ...base, ...changes });
    return validated.kind === "refused" ? validated.message : "";
  };
  assert.equal(messageOf(second({ wait_seconds: -1 })), "Step 2: wait_seconds must be 0 to 3600.");
  assert.equal(messageOf(second(command(""))), "Step 2: A task with action command needs a command.");
  assert.match(
    messageOf({ only_if: "previous_failed" }),
    /^only_if must be one of empty, .* in the first step\.$/,
  );
});

test("a reply loses its colours and line breaks and is cut at 500 bytes between characters", () => {
  assert.equal(
    detailOf("§6There are §c0§r of a max of 20\nplayers online\u0000"),
    "There are 0 of a max of 20 players online",
  );
  for (const letter of ["x", "é", "字", "🌍"]) {
    const cut = detailOf(letter.repeat(600));
    assert.ok(Buffer.byteLength(cut) <= 500 && Buffer.byteLength(cut) > 490, `${Buffer.byteLength(cut)}`);
    assert.doesNotMatch(cut, /\ufffd/);
  }
  assert.equal(detailOf("x".repeat(500)), "x".repeat(500));
});

test("players are warned in yellow and in both languages", () => {
  const line = warningCommand("restart", 5) ?? "";
  assert.deepEqual(JSON.parse(line.replace("tellraw @a ", "")), {
    text: "The server restarts in 5 minutes. 服务器将在 5 分钟后重启。",
    color: "yellow",
  });
  assert.match(warningCommand("stop", 1) ?? "", /stops in 1 minute\./);
  assert.match(warningCommand("backup", 1) ?? "", /pauses for a backup/);
  assert.equal(warningCommand("start", 1), undefined);
});

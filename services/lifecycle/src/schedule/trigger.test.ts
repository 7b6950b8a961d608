import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { schedules } from "@svc/proto";
import {
  anObservedTask,
  aRow,
  minute,
  due as noon,
  ready,
  starting,
  stopped,
} from "../testing/schedule/observed-schedule.ts";
import type { ScheduleRow } from "./row.ts";
import {
  causesOf,
  decidePresence,
  decideTrigger,
  dueOf,
  type Presence,
  type TriggerPlan,
  type Waiting,
} from "./trigger.ts";

const at = (minutes: number) => new Date(noon + minutes * minute);

describe("a look at the players", () => {
  const lateMs = 10 * minute;
  const look = (before: "empty" | "busy" | "nothing", count: "none" | "some" | "unknown", gap = 0.25) => {
    const known: Presence | undefined =
      before === "nothing"
        ? undefined
        : { isEmpty: before === "empty", changedAt: at(-60), lookedAt: at(-gap) };
    return decidePresence(known, { count, now: noon, lateMs });
  };
  for (const [before, count, expected] of [
    ["nothing", "unknown", "same"],
    ["nothing", "none", "first"],
    ["nothing", "some", "first"],
    ["empty", "none", "same"],
    ["empty", "unknown", "same"],
    ["empty", "some", "changed"],
    ["busy", "some", "same"],
    ["busy", "unknown", "same"],
    ["busy", "none", "changed"],
  ] as const) {
    test(`that counts ${count} after ${before} is ${expected}`, () => {
      assert.equal(look(before, count).kind, expected);
    });
  }
  const seen = (plan: ReturnType<typeof look>) =>
    plan.kind === "changed" ? [plan.happening.trigger, plan.happening.at, plan.isLate] : assert.fail();
  test("says what happened, and when it was seen", () => {
    assert.deepEqual(seen(look("empty", "some")), ["first_player_joined", at(0), false]);
    assert.deepEqual(seen(look("busy", "none", 10)), ["server_empty", at(0), false]);
  });
  test("after an outage counts as the look before it", () => {
    assert.deepEqual(seen(look("empty", "some", 10.1)), ["first_player_joined", at(-10.1), true]);
    assert.deepEqual(seen(look("busy", "none", 60)), ["server_empty", at(-60), true]);
  });
});

test("only an empty server is waited for, and not for what was seen late", () => {
  const five = { trigger_minutes: 5 };
  assert.deepEqual(dueOf({ at: at(0), trigger: "server_empty" }, five), at(5));
  assert.deepEqual(dueOf({ at: at(0), trigger: "server_empty", isLate: true }, five), at(0));
  assert.deepEqual(dueOf({ at: at(0), trigger: "backup_failed" }, five), at(0));
});

describe("what may have brought something about", () => {
  const fired = (causes: number[]) => ({
    ...({ event: "crash-1", trigger: "server_crashed", at: "", about: "" } as const),
    causes,
  });
  const run = (id: number, from: number, to: number | undefined, about: Partial<ScheduleRow> = {}) =>
    aRow({
      ...{ id, action: "restart", last_run_at: at(from) },
      ...(to === undefined ? { run_state: "stopping" } : { run_ended_at: at(to) }),
      ...about,
    });
  const table: [fact: string, trigger: schedules.ScheduleTrigger, tasks: ScheduleRow[], causes: number[]][] =
    [
      ["no task that ever ran", "server_started", [aRow({ id: 1 })], []],
      ["a run that is under way", "server_started", [run(1, -60, undefined)], [1]],
      ["a run that ended ten minutes ago", "server_started", [run(1, -30, -10)], [1]],
      ["no run that ended eleven minutes ago", "server_started", [run(1, -30, -11)], []],
      ["no run that began afterwards", "server_started", [run(1, 1, 2)], []],
      ["a run that began in the second of it", "server_crashed", [run(1, 0.03, 1)], [1]],
      [
        "a run whose end an older build did not note, for two hours",
        "server_started",
        [run(1, -119, -200), run(2, -121, -200)],
        [1],
      ],
      ["no stop, for a start", "server_started", [run(1, -1, 0, { action: "stop" })], []],
      ["no command, for a start", "server_started", [run(1, -1, 0, { action: "command" })], []],
      ["a command, for a crash", "server_crashed", [run(1, -1, 0, { action: "command" })], [1]],
      ["no command, for a player", "first_player_joined", [run(1, -1, 0, { action: "command" })], []],
      ["no restart, for a failed backup", "backup_failed", [run(1, -1, 0)], []],
      ["a backup, for a failed backup", "backup_failed", [run(1, -1, 0, { action: "backup" })], [1]],
      [
        "a later step of a chain",
        "server_started",
        [
          run(1, -1, 0, {
            action: "command",
            next_steps: [{ action: "start", command: "", wait_seconds: 0 }],
          }),
        ],
        [1],
      ],
      [
        "what brought its cause about, and that once",
        "server_started",
        [run(4, -1, 0, { last_trigger: fired([2, 3]) }), run(3, -9, -8)],
        [2, 3, 4],
      ],
    ];
  for (const [fact, trigger, tasks, causes] of table) {
    test(fact, () => assert.deepEqual(causesOf({ at: at(0), trigger }, tasks), causes));
  }
});

describe("what happened", () => {
  const task = (changes: Partial<ScheduleRow> = {}) =>
    aRow({
      ...{ trigger: "server_crashed", pause_minutes: 5, action: "command", command: "say hi" },
      ...{ updated_at: at(-60), ...changes },
    });
  const crash: Waiting = {
    ...{ event: "crash-1", trigger: "server_crashed", at: at(0), due: at(0), about: "unknown", causes: [] },
  };
  const decided = (
    row: Partial<ScheduleRow> = {},
    {
      now = 1,
      waiting = {},
      ...more
    }: Partial<Parameters<typeof anObservedTask>[0]> & {
      now?: number;
      waiting?: Partial<Waiting>;
    } = {},
  ) =>
    decideTrigger(
      { ...crash, ...waiting },
      { ...anObservedTask({ row: task(row), server: ready, ...more }), now: at(now).getTime() },
    );
  const dropped = (outcome: "cancelled" | "paused" | "caused_by_itself"): TriggerPlan => ({
    kind: "drop",
    outcome,
  });
  const emptyFor = { trigger: "server_empty", due: at(5) } as const;
  const busy = { ...ready, status: { ...ready.status, players: { online: 1, max: 20 } } } as typeof ready;
  const table: [fact: string, plan: TriggerPlan, ...about: Parameters<typeof decided>][] = [
    ["runs the task", { kind: "run" }],
    [
      "runs the task of a server that sleeps: its steps say the rest",
      { kind: "run" },
      {},
      { server: stopped },
    ],
    ["runs the task of a server that is gone: its steps say so", { kind: "run" }, {}, { server: undefined }],
    ["before the task was saved is not for it", dropped("cancelled"), { updated_at: at(0.01) }],
    ["while the task is off is not for it", dropped("cancelled"), { enabled: false }],
    ["is not for a task of the clock", dropped("cancelled"), { trigger: "" }],
    ["is not for a task that waits for another", dropped("cancelled"), { trigger: "backup_failed" }],
    ["switches the task of a former owner off", { kind: "disable" }, {}, { owner: "usr-2" }],
    ["switches the task of a deleted server off", { kind: "disable" }, {}, { owner: undefined }],
    ["is waited for", { kind: "rest" }, { trigger: "server_empty" }, { now: 4.9, waiting: emptyFor }],
    [
      "runs the task when it is due",
      { kind: "run" },
      { trigger: "server_empty" },
      { now: 5, waiting: emptyFor },
    ],
    [
      "waits for the next look when somebody has joined",
      { kind: "rest" },
      { trigger: "server_empty" },
      { now: 5, waiting: emptyFor, server: busy },
    ],
    [
      "runs the task although nobody can be counted",
      { kind: "run" },
      { trigger: "server_empty" },
      { now: 5, waiting: emptyFor, server: starting },
    ],
    ["ten minutes ago still runs the task", { kind: "run" }, {}, { now: 10 }],
    ["more than ten minutes ago is missed", { kind: "miss" }, {}, { now: 10.01 }],
    ["waits for a run that is under way", { kind: "rest" }, { run_state: "stopping" }],
    ["is missed when that takes too long", { kind: "miss" }, { run_state: "stopping" }, { now: 11 }],
    ["within the pause does nothing", dropped("paused"), { last_fired_at: at(-4.9) }],
    ["after the pause runs the task", { kind: "run" }, { last_fired_at: at(-5) }],
    ["within the pause is not missed", dropped("paused"), { last_fired_at: at(-1) }, { now: 60 }],
    [
      "by the task's own doing does nothing",
      dropped("caused_by_itself"),
      {},
      { waiting: { causes: [3, 7] } },
    ],
    ["by another's doing runs the task", { kind: "run" }, {}, { waiting: { causes: [3, 8] } }],
  ];
  for (const [fact, plan, ...about] of table) {
    test(fact, () => assert.deepEqual(decided(...about), plan));
  }

  test("never goes round, whatever tasks wait for each other", () => {
    // Three tasks that restart the server whenever it has started.
    const tasks = [1, 2, 3].map((id) =>
      task({ id, trigger: "server_started", action: "restart", pause_minutes: 1 }),
    );
    let runs = 0;
    for (let round = 1; round <= 50; round++) {
      const happening = {
        event: `start-${round}`,
        trigger: "server_started",
        at: at(round * 5),
        about: "",
      } as const;
      const waiting = { ...happening, due: happening.at, causes: causesOf(happening, tasks) };
      const now = happening.at.getTime();
      const next = tasks.find(
        (row) => decideTrigger(waiting, { ...anObservedTask({ row, server: ready }), now }).kind === "run",
      );
      if (!next) break;
      runs += 1;
      const last_trigger = { ...waiting, at: "" };
      Object.assign(next, {
        last_run_at: happening.at,
        run_ended_at: happening.at,
        last_fired_at: happening.at,
      });
      Object.assign(next, { last_trigger });
    }
    assert.equal(runs, 3);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { members, ServerInfo, schedules, serverFiles } from "@svc/proto";
import type { Plan, Present, Wanted } from "./change.ts";
import { documentOf, yamlOf } from "./export.ts";
import { isDelicate, planChanges } from "./plan.ts";
import { parseSources } from "./read.ts";
import { lacksToChange, lacksToRead } from "./rights.ts";
import { planText } from "./text.ts";

type Managed = Extract<Present, { kind: "managed" }>;

const info: ServerInfo = {
  ...{ name: "survival", subdomain: "survival", phase: "Stopped", ready: false, desiredState: "Stopped" },
  ...{ playersOnline: 0, playersMax: 20, idleStopSeconds: 600, autostartPolicy: "public" },
  ...{
    image: "game:1@sha256:ab",
    memory: "2Gi",
    storageSize: "8Gi",
    nodeName: "n1",
    displayName: "Survival",
  },
};
const stored: schedules.Schedule = {
  ...{ id: 1, server: "survival", label: "nightly", action: "restart", command: "", every_minutes: 0 },
  ...{
    minute_of_day: 240,
    weekdays: 127,
    timezone: "UTC",
    warn_minutes: 5,
    enabled: true,
    next_run_at: null,
  },
  ...{ run_state: "", last_run_at: null, last_result: "", last_detail: "", created_by: "usr-1" },
  created_at: "2026-01-01T00:00:00.000Z",
};
const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const present: Managed = {
  ...{ kind: "managed", info, isOwned: true, tasks: { stored: [stored], limit: 3 } },
  allowlist: [{ mc_uuid: player, added_at: stored.created_at, can_wake: true }],
};
const head = "apiVersion: svc/v1\nkind: Server\nname: survival\n";
const nightly = "{label: nightly, action: restart, at: 04:00, warn: 5}";

function parse(text: string): Wanted[] {
  const { wanted, problems } = parseSources([{ name: "a.yaml", text }]);
  assert.deepEqual(problems, []);
  return wanted;
}
function planOf(
  text: string,
  at: Present = present,
  more: { isOperator?: boolean; prune?: boolean } = {},
): Plan {
  const { isOperator = false, prune = false } = more;
  return planChanges(parse(head + text), new Map([["survival", at]]), {
    caller: { isOperator },
    options: { prune },
  });
}
const running: Managed = { ...present, info: { ...info, phase: "Running", desiredState: "Running" } };

describe("what is planned", () => {
  const table: [fact: string, text: string, lines: string[], more?: Parameters<typeof planOf>[2]][] = [
    ["nothing for a file that names nothing", "", ["Nothing to change."]],
    [
      "nothing where everything is so",
      `settings: {displayName: " Survival ", autostartPolicy: public, idleStopSeconds: 600, image: "game:1", memory: 2048Mi, storage: 8192Mi, subdomain: survival, node: n1, owner: me}\nschedules: [${nightly}]\nallowlist: [{player: ${player.toUpperCase()}, canWake: true}]`,
      ["Nothing to change."],
    ],
    [
      "a setting from what it was to what it will be",
      "settings: {autostartPolicy: ownerOnly, displayName: ''}",
      [
        "~ survival: change displayName, autostartPolicy",
        '    displayName: Survival -> ""',
        "    autostartPolicy: public -> ownerOnly",
        "Plan: 0 to add, 1 to change, 0 to delete.",
      ],
    ],
    [
      "a task of the same label is changed, not replaced",
      "schedules: [{label: nightly, action: restart, at: 05:30, warn: 5}]",
      [
        '~ survival: change task "nightly"',
        "    when: at 04:00 -> at 05:30",
        "Plan: 0 to add, 1 to change, 0 to delete.",
      ],
    ],
    [
      "a task that the file does not have stays",
      "schedules: []",
      ["Nothing to change.", '  survival: task "nightly" is not in the file; it stays without --prune'],
    ],
    [
      "and goes with --prune",
      "schedules: []",
      ['- survival: delete task "nightly"', "Plan: 0 to add, 0 to change, 1 to delete."],
      { prune: true },
    ],
    [
      "a task by the clock waits for something instead",
      "schedules: [{label: nightly, action: restart, when: server_empty, for: 30, pause: 60}]",
      [
        '~ survival: change task "nightly"',
        "    when: at 04:00 -> server_empty for 30 min",
        '    pause: "" -> 60',
        "    warn: 5 -> 0",
        "Plan: 0 to add, 1 to change, 0 to delete.",
      ],
    ],
    [
      "a task without a label is another one as soon as it differs",
      `schedules: [${nightly}, {action: backup, every: 360, days: [sat, sun], timezone: Europe/Berlin}]`,
      [
        "+ survival: add task backup every 360 min",
        ...['    label: ""', "    action: backup", "    when: every 360 min", "    days: sun,sat"],
        ...["    timezone: Europe/Berlin", "    warn: 0", "    enabled: true"],
        "Plan: 1 to add, 0 to change, 0 to delete.",
      ],
    ],
    [
      "a task becomes a chain",
      `schedules: [{label: nightly, action: restart, at: 04:00, warn: 5, onlyIf: empty, nextSteps: [{action: command, command: /say hi, wait: 60}]}]`,
      [
        '~ survival: change task "nightly"',
        "    action: restart -> only-if=empty restart > wait=60 command say hi",
        "Plan: 0 to add, 1 to change, 0 to delete.",
      ],
    ],
    [
      "who may wake",
      `allowlist: [{player: ${player}, canWake: false}]`,
      [
        "~ survival: allowlist",
        `    ${player} canWake: true -> false`,
        "Plan: 0 to add, 1 to change, 0 to delete.",
      ],
    ],
  ];
  for (const [fact, text, lines, more] of table)
    test(fact, () => {
      const plan = planOf(text, present, more);
      assert.deepEqual([plan.refusals, planText(plan).split("\n")], [[], lines]);
    });

  test("a server that is not there is created by operators, with its tasks", () => {
    const text = `settings: {memory: 4Gi, owner: me}\nschedules: [${nightly}]`;
    const { changes } = planOf(text, { kind: "absent" }, { isOperator: true });
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ["create-server", "create-task"],
    );
  });

  test("people are asked before a task goes, players are thrown out or a world is converted", () => {
    const ask = (text: string, at: Present, more = {}) =>
      planOf(text, at, { isOperator: true, ...more }).changes.map(isDelicate);
    assert.deepEqual(ask("schedules: []", present, { prune: true }), [true]);
    assert.deepEqual(ask("settings: {memory: 4Gi}", running), [true]);
    assert.deepEqual(ask("settings: {memory: 4Gi}", present), [false]);
    assert.deepEqual(ask("settings: {image: 'game:2'}", present), [true]);
    assert.deepEqual(ask("settings: {idleStopSeconds: 0}", running), [false]);
  });
});

describe("what is refused before anything is changed", () => {
  const absent: Present = { kind: "absent" };
  const other = "11111111-2222-3333-4444-555555555555";
  const twins = { stored: [stored, { ...stored, id: 2, minute_of_day: 0 }], limit: 3 };
  const table: [fact: string, text: string, why: RegExp, at?: Present][] = [
    ["another storage", "settings: {storage: 9Gi}", /storage is 8Gi, not 9Gi: .* cannot be changed/],
    ["another subdomain", "settings: {subdomain: other}", /subdomain is survival, not other/],
    ["another node", "settings: {node: n2}", /node is n1, not n2: worlds are moved with/],
    ["another owner", "settings: {owner: me}", /does not change who owns/, { ...present, isOwned: false }],
    ["memory by an owner", "settings: {memory: 4Gi}", /memory is 2Gi, not 4Gi: only operators/],
    ["a new server by an owner", "", /does not exist, .* only operators create servers/, absent],
    ["somebody else's server", "", /is not yours/, { kind: "foreign" }],
    ["a player who never joined", `allowlist: [{player: ${other}, canWake: true}]`, /has never joined/],
    [
      "a player twice",
      `allowlist: [{player: ${player}, canWake: true}, {player: ${player}, canWake: false}]`,
      /on the allowlist twice/,
    ],
    [
      "an unknown time zone",
      "schedules: [{action: stop, at: 1:00, timezone: Mars/Base}]",
      /Mars\/Base is no time zone/,
    ],
    [
      "a label that several tasks have",
      "schedules: [{label: nightly, action: stop, at: 01:00}]",
      /several tasks are called "nightly"/,
      { ...present, tasks: twins },
    ],
    [
      "more tasks than there may be",
      `schedules: [${[1, 2, 3].map((hour) => `{action: stop, at: 0${hour}:00}`).join(", ")}]`,
      /would have 4 tasks; a server has at most 3/,
    ],
    [
      "a server that is being given up",
      "",
      /being given up/,
      { ...present, info: { ...info, retiring: { requested_at: stored.created_at, delete: false } } },
    ],
  ];
  for (const [fact, text, why, at] of table)
    test(fact, () => {
      const { refusals, changes } = planOf(text, at);
      assert.match(refusals.join("\n"), why);
      assert.equal(changes.length, 0);
    });

  test("a server that is there twice", () => {
    const { refusals } = planOf(`---\n${head}`);
    assert.deepEqual(refusals, ["survival: is there twice; one document for each server"]);
  });
});

describe("what a token lacks", () => {
  const grant = (...rights: ("see" | "settings" | "schedules" | "power" | "command")[]) => ({
    id: "t",
    rights,
  });
  test("to read, and at other servers", () => {
    const wanted = parse(`${head}schedules: []\nallowlist: []`);
    assert.deepEqual(lacksToRead({ ...grant("see"), servers: ["work"] }, wanted), [
      "survival: the token is not for this server",
      "survival: the token does not have the right schedules",
      "survival: the token does not have the right players",
    ]);
    assert.deepEqual(lacksToRead(grant("see"), parse(head)), []);
  });
  test("to change, each right once", () => {
    const { changes } = planOf(
      `settings: {displayName: x}\nschedules: [{action: stop, at: 1:00}, {action: start, at: 2:00}]`,
    );
    assert.deepEqual(lacksToChange(grant("see", "schedules", "power"), changes), [
      "survival: the token does not have the right settings",
      "survival: the token does not have the right command",
      "survival: the token does not have the right backups.make",
    ]);
    assert.deepEqual(lacksToChange(grant("settings"), changes.slice(0, 1)), []);
  });
});

test("the file of any server changes nothing at that server", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const pick = <T>(...from: readonly T[]): T => from[random(from.length)] as T;
  const texts = [
    "",
    "on",
    "04:00",
    "null",
    "0x1F",
    "a: b",
    "- x",
    "# no",
    "ünï 🎮",
    '"q"',
    "{a}",
    "*x",
    "&y",
    "!z",
    "%",
  ];
  const stepOf = (first: string): schedules.ScheduleStep => {
    const action = (first === "command" ? first : pick("command", "stop", "backup")) as "stop";
    return {
      ...{ action, wait_seconds: pick(0, 1, 3_600) },
      command: action === ("command" as string) ? pick(...texts.filter((one) => one !== "")) : "",
      ...(random(2) === 0 && { only_if: pick("previous_failed", "empty") as "empty" }),
    };
  };
  const taskOf = (id: number): schedules.Schedule => {
    const action = pick("command", "restart", "stop", "start", "backup") as schedules.ScheduleAction;
    const every = action === "command" ? pick(0, 15, 30, 60) : pick(0, 60, 720);
    const what = { ...stored, id, action, label: pick(...texts).trim() };
    const waits = {
      ...what,
      ...({ every_minutes: 0, minute_of_day: 0, warn_minutes: 0 } as const),
      command: action === "command" ? "list" : "",
      pause_minutes: pick(1, 5, 1_440),
    };
    const kind = random(4);
    if (kind === 0) return { ...waits, trigger: "server_empty", trigger_minutes: pick(0, 5, 60) };
    if (kind === 1) return { ...waits, trigger: pick("server_crashed", "backup_failed") as "backup_failed" };
    return {
      ...{ ...what, every_minutes: every as 0 },
      command: action === "command" ? pick(...texts.filter((one) => one !== "")) : "",
      minute_of_day: every === 0 ? random(1_440) : 0,
      weekdays: 1 + random(127),
      timezone: pick("UTC", "Europe/Berlin", "Asia/Kathmandu"),
      warn_minutes: action === "command" || action === "start" ? 0 : pick(0, 1, 30),
      enabled: pick(true, false),
      ...(random(2) === 0 && { only_if: pick("empty", "played_since_success") as "empty" }),
      ...(random(2) === 0 && { next_steps: Array.from({ length: 1 + random(9) }, () => stepOf(action)) }),
    };
  };
  const maybe = <K extends keyof ServerInfo>(key: K, ...values: ServerInfo[K][]) =>
    random(3) === 0 ? {} : { [key]: pick(...values) };
  for (let round = 0; round < 100; round++) {
    const { displayName: _name, autostartPolicy: _policy, ...bare } = info;
    const some: Managed = {
      ...{ kind: "managed", isOwned: pick(true, false) },
      info: {
        ...{ ...bare, idleStopSeconds: pick(0, 60, 86_400), phase: pick("Stopped", "Running", "Failed") },
        ...maybe("displayName", ...texts.filter((one) => one !== "")),
        ...maybe("autostartPolicy", "public", "allowlist", "ownerOnly"),
        ...maybe("memory", "2Gi", "512Mi", "1.5G"),
        ...maybe("cpu", "2", "500m", "1e1"),
      },
      tasks: { stored: Array.from({ length: random(6) }, (_, id) => taskOf(id)), limit: 5 },
      allowlist: Array.from({ length: random(3) }, (_, at) => ({
        ...{ mc_uuid: player.replace(/.$/, String(at)), added_at: stored.created_at },
        can_wake: pick(true, false),
      })),
    };
    const yaml = yamlOf(documentOf(some));
    const wanted: serverFiles.ServerFile[] = parse(yaml);
    const context = { caller: { isOperator: pick(true, false) }, options: { prune: true } };
    const plan = planChanges(wanted, new Map([["survival", some]]), context);
    assert.deepEqual(plan, { changes: [], refusals: [], kept: [] }, yaml);
  }
});

describe("restart policy and members", () => {
  const ada: members.Member = {
    ...{ id: "mem-1", username: "ada", rights: ["see", "command"], limits: { allow_commands: ["list"] } },
    ...{ joined_at: stored.created_at, is_me: false, may_change: true },
  };
  const policy = { after_crash: "restart", when_hung: "leave", silent_minutes: 10 } as const;
  const at = (more: Partial<Managed> = {}): Managed => ({
    ...present,
    restart: policy,
    members: [ada],
    ...more,
  });
  const kinds = (plan: Plan) => plan.changes.map(({ kind }) => kind);
  test("are as they are when the file does not name them", () =>
    assert.deepEqual(kinds(planOf("", at())), []));
  test("what is left out of the policy stays", () => {
    const [change] = planOf("restart: {afterCrash: stop}", at()).changes;
    assert.deepEqual(change, {
      ...{ server: "survival", kind: "change-restart", before: policy },
      policy: { ...policy, after_crash: "stop" },
    });
    assert.match(planText(planOf("restart: {afterCrash: stop}", at())), /^ {4}afterCrash: restart -> stop$/m);
    assert.deepEqual(kinds(planOf("restart: {whenHung: leave}", at())), []);
  });
  test("an access is changed where anything differs, and in whatever order its rights stand", () => {
    const same = "members: [{user: ada, rights: [command, see], allowCommands: [/list]}]";
    assert.deepEqual(kinds(planOf(same, at())), []);
    for (const other of [
      "{user: ada, rights: [command]}",
      "{user: ada, rights: [command, power], allowCommands: [list]}",
      "{user: ada, rights: [command], allowCommands: [list], until: 2030-01-01T00:00:00Z}",
    ])
      assert.deepEqual(kinds(planOf(`members: [${other}]`, at())), ["change-member"], other);
    assert.match(
      planText(planOf("members: [{user: ada, rights: [see]}]", at())),
      /~ survival: change the access of ada\n {4}from see,command; allow_commands: list\n {4}to see\n/,
    );
  });
  test("who is not in the file stays, unless everything else is to go, which is asked first", () => {
    const plan = planOf("members: []", at());
    assert.deepEqual([kinds(plan), plan.kept], [[], ["survival: ada has access and is not in the file"]]);
    const pruned = planOf("members: []", at(), { prune: true });
    assert.deepEqual(kinds(pruned), ["remove-member"]);
    assert.ok(pruned.changes.every(isDelicate));
  });
  test("a token reads no members, and needs `settings` for the policy", () => {
    const grant = { id: "tok", rights: ["see" as const] };
    const file = parse(`${head}members: []\nrestart: {afterCrash: stop}`);
    assert.match(lacksToRead(grant, file).join(), /members need a session/);
    assert.match(
      lacksToChange(grant, planOf("restart: {afterCrash: stop}", at()).changes).join(),
      /right settings/,
    );
  });
});

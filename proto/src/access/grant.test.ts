import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { memberRights } from "../right.ts";
import { AccessLimits, covers, type Grant, GrantedRights } from "./grant.ts";
import { accessPresets } from "./preset.ts";

const all: Grant = { rights: [...memberRights] };
const limited: Grant = {
  rights: ["see", "files.read", "files.write", "command", "invite"],
  limits: {
    read_paths: ["plugins"],
    write_paths: ["plugins/x"],
    allow_commands: ["list", "say"],
    deny_commands: ["stop"],
  },
  ends_at: "2030-01-01T00:00:00.000Z",
};
const until = { ends_at: "2029-01-01T00:00:00.000Z" };

type Case = [fact: string, own: Grant, asked: Grant, isCovered: boolean];
const cases: Case[] = [
  ["everything covers everything", all, all, true],
  ["everything covers what is limited", all, limited, true],
  ["what is limited covers itself", limited, limited, true],
  ["not everything", limited, all, false],
  ["a right more", limited, { rights: ["see", "power"], ...until }, false],
  ["a right without the limits of another", limited, { rights: ["see", "invite"], ...until }, true],
  ["no end", limited, { rights: ["see"] }, false],
  ["a later end", limited, { rights: ["see"], ends_at: "2030-01-01T00:00:00.001Z" }, false],
  [
    "the same end in another zone",
    limited,
    { rights: ["see"], ends_at: "2030-01-01T01:00:00.000+01:00" },
    true,
  ],
  ["an end that is none", limited, { rights: ["see"], ends_at: "soon" }, false],
  ...(["files.read", "files.write", "backups.download", "backups.restore"] as const).flatMap(
    (right): [string, Grant, Grant, boolean][] => {
      const own: Grant = {
        rights: [...memberRights],
        limits: { read_paths: ["plugins"], write_paths: ["plugins"] },
      };
      const isRead = right === "files.read" || right === "backups.download";
      const within = { [isRead ? "read_paths" : "write_paths"]: ["plugins/x"] };
      const beside = { [isRead ? "write_paths" : "read_paths"]: ["plugins/x"] };
      return [
        [`${right} without its paths`, own, { rights: ["see", right] }, false],
        [
          `${right} with the paths of the other direction`,
          own,
          { rights: ["see", right], limits: beside },
          false,
        ],
        [`${right} with paths within`, own, { rights: ["see", right], limits: within }, true],
      ];
    },
  ),
  ["paths without limits", limited, { rights: ["see", "files.read"], ...until }, false],
  [
    "a path within",
    limited,
    { rights: ["see", "files.read"], limits: { read_paths: ["plugins/y"] }, ...until },
    true,
  ],
  [
    "a path beside",
    limited,
    { rights: ["files.read"], limits: { read_paths: ["plugins/y", "world"] }, ...until },
    false,
  ],
  [
    "a path above",
    limited,
    { rights: ["files.write"], limits: { write_paths: ["plugins"] }, ...until },
    false,
  ],
  ["no path at all", limited, { rights: ["files.write"], limits: { write_paths: [] }, ...until }, true],
  ...(
    [
      ["without the paths of reads", { write_paths: ["world"] }, false],
      ["with the paths of reads", { write_paths: ["world"], read_paths: ["plugins"] }, true],
      ["within the paths of reads", { write_paths: ["plugins/x"] }, true],
    ] as const
  ).map(
    ([fact, limits, isCovered]): Case => [
      `files.write of more than is read, ${fact}`,
      { rights: ["see", "files.read", "files.write", "invite"], limits: { read_paths: ["plugins"] } },
      { rights: ["see", "files.write"], limits: AccessLimits.parse(limits) },
      isCovered,
    ],
  ),
  ["commands without limits", limited, { rights: ["command"], ...until }, false],
  [
    "commands without the denials",
    limited,
    { rights: ["command"], limits: { allow_commands: ["list"] }, ...until },
    false,
  ],
  [
    "fewer commands, more denials",
    limited,
    { rights: ["command"], limits: { allow_commands: ["list"], deny_commands: ["stop", "say"] }, ...until },
    true,
  ],
  [
    "a command that only begins like an own one",
    limited,
    { rights: ["command"], limits: { allow_commands: ["list uuids"], deny_commands: ["stop"] }, ...until },
    false,
  ],
  [
    "everything by a star",
    limited,
    { rights: ["command"], limits: { allow_commands: ["*"], deny_commands: ["stop"] }, ...until },
    false,
  ],
];
for (const [fact, own, asked, isCovered] of cases)
  test(`an own access covers an asked one: ${fact}`, () => assert.equal(covers(own, asked), isCovered));

describe("rights as they are stored", () => {
  test("have `see` always, each once, in the order of the list", () =>
    assert.deepEqual(GrantedRights.parse(["power", "command", "power"]), ["see", "command", "power"]));
  for (const given of [[], ["staff"], ["owner"], "see"])
    test(`are refused: ${JSON.stringify(given)}`, () => assert.ok(!GrantedRights.safeParse(given).success));
});

for (const key of Object.keys(AccessLimits.shape))
  test(`a limit of nothing is refused, which people would read as none: ${key}`, () => {
    assert.ok(!AccessLimits.safeParse({ [key]: [] }).success);
    assert.ok(AccessLimits.safeParse({ [key]: ["list"] }).success);
  });

for (const [name, { rights, ...preset }] of Object.entries(accessPresets))
  test(`the preset ${name} is stored as it is`, () => {
    assert.deepEqual(GrantedRights.parse([...rights]), [...rights]);
    const limits = "limits" in preset ? preset.limits : {};
    assert.deepEqual(AccessLimits.parse(limits), limits);
  });

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type members, serverFiles } from "@svc/proto";
import { parse } from "yaml";
import { isDelicate } from "./plan.ts";
import { planMembers } from "./sharing.ts";

describe("people are asked before an access becomes wider, and a limit or an end that is left out makes it wider", () => {
  const of = { joined_at: "2026-01-01T00:00:00.000Z", is_me: false, may_change: true };
  const ada = { rights: ["see" as const, "command" as const], limits: { allow_commands: ["list"] } };
  const ben = {
    ...{ rights: ["see" as const, "files.read" as const], limits: { read_paths: ["plugins"] } },
    ends_at: "2030-01-01T00:00:00.000Z",
  };
  const present: members.Member[] = [
    { ...of, ...ada, id: "mem-1", username: "ada" },
    { ...of, ...ben, id: "mem-2", username: "ben" },
  ];
  const rows: [member: string, isAsked: boolean][] = [
    ["{user: ada, rights: [see]}", false],
    ["{user: ada, rights: [command], allowCommands: [list], until: 2030-01-01T00:00:00Z}", false],
    ["{user: ada, rights: [command]}", true],
    ["{user: ada, rights: [command, power], allowCommands: [list]}", true],
    ["{user: ben, rights: [files.read], readPaths: [plugins/a], until: 2030-01-01T00:00:00Z}", false],
    ["{user: ben, rights: [files.read], until: 2030-01-01T00:00:00Z}", true],
    ["{user: ben, rights: [files.read], readPaths: [plugins]}", true],
  ];
  for (const [member, isAsked] of rows)
    test(member, () => {
      const text = `{apiVersion: svc/v1, kind: Server, name: survival, members: [${member}]}`;
      const file = serverFiles.ServerFile.parse(parse(text));
      assert.deepEqual(planMembers(file, present, false).changes.map(isDelicate), [isAsked]);
    });
});

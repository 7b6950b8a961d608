import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serverGroups as contracts } from "@svc/proto";
import { type Given, readGroup } from "./input.ts";

const valid: Given = { name: "Evening", stages: [["proxy"], ["survival", "creative"]], stage_seconds: 600 };
const names = (count: number) => Array.from({ length: count }, (_, at) => `server-${at}`);
const { mostServers, mostStages, longestName, stageSeconds } = contracts;

const refused: readonly (readonly [fact: string, change: Partial<Given>, message: RegExp])[] = [
  ["without a name", { name: "" }, /a name/],
  ["with a name of control characters", { name: "\u202e \u0007" }, /a name/],
  ["with a name that is too long", { name: "x".repeat(longestName + 1) }, /64 characters; this one has 65/],
  ["without a stage", { stages: [] }, /needs a stage/],
  ["with an empty stage", { stages: [["proxy"], []] }, /Each stage/],
  ["with too many stages", { stages: names(mostStages + 1).map((one) => [one]) }, /10 stages; these are 11/],
  ["with too many servers", { stages: [names(mostServers + 1)] }, /50 servers; these are 51/],
  ["with a server twice in a stage", { stages: [["proxy", "proxy"]] }, /proxy is in the group twice/],
  ["with a server in two stages", { stages: [["proxy"], ["proxy"]] }, /proxy is in the group twice/],
  ["with a system server", { stages: [["lobby"]] }, /"lobby" is not the name of a server/],
  ["with what is no name", { stages: [["Bad Name\u202e"]] }, /"Bad Name" is not the name/],
  ["with too short a time", { stage_seconds: stageSeconds.least - 1 }, /30 to 3600 seconds; this is 29/],
  ["with too long a time", { stage_seconds: stageSeconds.most + 1 }, /30 to 3600 seconds/],
];

describe("a group", () => {
  for (const [fact, change, message] of refused)
    test(`${fact} is refused with what to do`, () => {
      const read = readGroup({ ...valid, ...change });
      assert.equal(read.kind, "refused");
      assert.match(read.kind === "refused" ? read.message : "", message);
    });

  test("keeps its order, and a name without what would change the text around it", () => {
    const read = readGroup({ ...valid, name: " Our\u202e  evening " });
    const group = { name: "Our evening", stages: valid.stages, stage_seconds: 600 };
    assert.deepEqual(read, { kind: "read", group });
  });

  test("may be as large as the limits say", () => {
    const stages = Array.from({ length: mostStages }, (_, at) =>
      names(mostServers).slice(at * 5, at * 5 + 5),
    );
    assert.equal(readGroup({ ...valid, stages, name: "x".repeat(longestName) }).kind, "read");
  });
});

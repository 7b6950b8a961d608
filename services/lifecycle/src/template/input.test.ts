import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type serverTemplates as contracts, maxTags } from "@svc/proto";
import { decideSave, readTemplate, type Saving, type Written } from "./input.ts";

const platform = {
  default_image: "svc.local/demo-server:1.21.4",
  default_memory: "2Gi",
  default_storage: "8Gi",
  idle_default: 600_000,
  heap_reserve_min: 512 * 2 ** 20,
};
const valid: Written = {
  ...{ name: "event", title: "Event", description: "For one evening", offered: true },
  settings: { image: "svc.local/demo-server:1.21.4", memory: "4Gi" },
};
const withSettings = (settings: contracts.TemplateSettings): Written => ({ ...valid, settings });
const tag = (name: string) => ({ name, colour: "blue" as const });

const refused: readonly (readonly [fact: string, given: Written, message: RegExp])[] = [
  ["with a name with a capital", { ...valid, name: "Event" }, /1 to 32 of a-z/],
  ["with a name with a dash at its edge", { ...valid, name: "event-" }, /1 to 32 of a-z/],
  ["with a name of 33 characters", { ...valid, name: "x".repeat(33) }, /1 to 32 of a-z/],
  ["with a title of 65 characters", { ...valid, title: "x".repeat(65) }, /64 characters; this one has 65/],
  ["with a description of 257", { ...valid, description: "x".repeat(257) }, /256 characters; this one/],
  ["whose image has a digest", withSettings({ image: "a:1@sha256:0" }), /without a digest/],
  ["whose image has a space", withSettings({ image: "a :1" }), /space/],
  ["without memory", withSettings({ memory: "0" }), /memory must be a quantity/],
  ["whose storage is no quantity", withSettings({ storage: "big" }), /storage must be a quantity/],
  [
    "whose request is above its limit",
    withSettings({ memory: "1Gi", resources: { memoryRequest: "2Gi" } }),
    /above the limit/,
  ],
  [
    "whose request is above the memory of the installation",
    withSettings({ resources: { memoryRequest: "3Gi" } }),
    /above the limit/,
  ],
  ["that idles for a second", withSettings({ idleStopSeconds: 1 }), /0 \(off\) or 60 to 86400/],
  ["with a tag that is none", withSettings({ tags: [tag("!")] }), /1 to 24 letters/],
  ["with a tag twice", withSettings({ tags: [tag("One"), tag("one ")] }), /there twice/],
  [
    "with one tag more than there may be",
    withSettings({ tags: Array.from({ length: maxTags + 1 }, (_, n) => tag(`t${n}`)) }),
    /8 tags; these are 9/,
  ],
  ["with a variable that has no name for one", withSettings({ env: [{ name: "A B", value: "" }] }), /"A B"/],
  [
    "with a variable twice",
    withSettings({
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    }),
    /A is there twice/,
  ],
];
const taken: readonly (readonly [fact: string, given: Written, kept: Partial<Written>])[] = [
  ["as it is", valid, {}],
  ["that sets nothing", withSettings({}), {}],
  ["without a title, which is its name then", { ...valid, title: " " }, { title: "event" }],
  [
    "without what would change the text around it",
    { ...valid, title: " My\u202e  event ", description: "a\nb" },
    { title: "My event", description: "a b" },
  ],
  ["whose name is as long as it may be", { ...valid, name: "x".repeat(32) }, {}],
  ["with one letter as its name", { ...valid, name: "x" }, {}],
  [
    "without lists and objects that say nothing",
    withSettings({
      memory: "4Gi",
      javaFlags: [],
      env: [],
      tags: [],
      motd: {},
      restart: {},
      resources: { cpu: "" },
    }),
    { settings: { memory: "4Gi" } },
  ],
  [
    "with tags as servers have them",
    withSettings({ tags: [tag(" EVENT ")] }),
    { settings: { tags: [tag("event")] } },
  ],
  ["that never stops by itself", withSettings({ idleStopSeconds: 0 }), {}],
  ["with an empty variable", withSettings({ env: [{ name: "A", value: "" }] }), {}],
];

describe("a template", () => {
  for (const [fact, given, message] of refused)
    test(`${fact} is refused with what to do`, () => {
      const read = readTemplate(given, platform);
      assert.match(read.kind === "refused" ? read.message : "", message);
    });
  for (const [fact, given, kept] of taken)
    test(`${fact} is taken`, () => {
      assert.deepEqual(readTemplate(given, platform), { kind: "read", written: { ...given, ...kept } });
    });
});

const other = { ...valid, title: "Another" };
const refusedAs = (fault: Extract<Saving, { kind: "refused" }>["fault"]): Saving => ({
  kind: "refused",
  fault,
});
const saves: readonly (readonly [
  fact: string,
  before: (Written & { revision: number }) | undefined,
  revision: number,
  saving: Saving,
])[] = [
  ["one that is not there is made", undefined, 0, { kind: "write", revision: 1 }],
  ["one that somebody deleted is not made again", undefined, 3, refusedAs("template_not_found")],
  ["a new one does not take the name of another", { ...other, revision: 1 }, 0, refusedAs("template_exists")],
  ["the one that was seen is replaced", { ...other, revision: 3 }, 3, { kind: "write", revision: 4 }],
  ["one that was changed since is kept", { ...other, revision: 4 }, 3, refusedAs("template_changed")],
  ["a revision that was never there is refused", { ...other, revision: 4 }, 5, refusedAs("template_changed")],
  ["a repeat of the first save changes nothing", { ...valid, revision: 1 }, 0, { kind: "unchanged" }],
  ["a repeat of a change changes nothing", { ...valid, revision: 4 }, 3, { kind: "unchanged" }],
];
describe("saving a template", () => {
  for (const [fact, before, revision, saving] of saves)
    test(fact, () => assert.deepEqual(decideSave(before, valid, revision), saving));
});

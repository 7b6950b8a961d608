import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Badged, badgePolicy, badgeVariant, drawBadge } from "./status-badge.ts";
import { plainMotd, visibleName } from "./visible-name.ts";

const at = "2026-11-24T21:00:00.000Z";
const page = (more: Partial<Badged> = {}): Badged => ({
  ...{ name: "Survival", state: "online", players: { online: 3, max: 20 }, as_of: at },
  ...more,
});
const variantOf = (input: Record<string, unknown>, minutes = 0) =>
  badgeVariant(page(), { input, now: Date.parse(at) + minutes * 60_000 });
const titleOf = (svg: string) => /<title>(.*)<\/title>/.exec(svg)?.[1];

/** The elements of the fixed template, with their attributes but without what changes. */
const shapeOf = (svg: string) =>
  [...svg.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/"[^"]*"/g, '""')).join("");

describe("what a badge says", () => {
  const rows: [state: Badged["state"], variant: string, title: string][] = [
    ["online", "en", "Survival: online 3/20"],
    ["online", "zh", "Survival: 在线 3/20"],
    ["asleep", "en", "Survival: asleep"],
    ["starting", "en", "Survival: starting"],
    ["stopping", "en", "Survival: going to sleep"],
    ["maintenance", "zh", "Survival: 维护中"],
    ["unavailable", "en", "Survival: unavailable"],
    ["online", "en unknown", "Survival: unknown"],
  ];
  for (const [state, variant, title] of rows)
    test(`${state} as ${variant} is ${title}`, () =>
      assert.equal(titleOf(drawBadge(page({ state }), variant)), title));
  test("without a count it names none", () => {
    const { players: _players, ...uncounted } = page();
    assert.equal(titleOf(drawBadge(uncounted, "en")), "Survival: online");
  });
  test("is unknown once the state is older than three minutes", () => {
    assert.equal(variantOf({}), "en");
    assert.equal(variantOf({ language: "zh" }, 3), "zh");
    assert.equal(variantOf({ language: "zh" }, 3.1), "zh unknown");
    assert.equal(variantOf({ language: "<script>" }), "en");
  });
});

describe("hostile names", () => {
  const template = shapeOf(drawBadge(page(), "en"));
  const names = [
    `</title><script>alert(1)</script>`,
    `"><image href="http://evil.test/x"/>`,
    `' onload='alert(1)`,
    "<![CDATA[x]]>",
    "<!ENTITY a 'b'>&a;",
    "]]>&#x3c;b&#x3e;",
    "a\u0000b\u001bc\u0085d",
    "\u202eright to left\u2066",
    "half \ud800 of one",
    "\ufffe\uffff",
    "§4red",
    "𝕱ancy 🐉 ドラゴン",
    "x".repeat(5_000),
    "龍".repeat(64),
    " ",
  ];
  for (const name of names)
    test(`${JSON.stringify(name.slice(0, 24))} stays text`, () => {
      const svg = drawBadge(page({ name }), "en");
      assert.equal(shapeOf(svg), template);
      // What XML does not allow would make the whole picture unreadable.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.doesNotMatch(svg, /[\u0000-\u001f\u007f-\u009f\ufffe\uffff\u202a-\u202e\u2066-\u2069]/);
      assert.ok(svg.isWellFormed());
      assert.doesNotMatch(svg, /&(?!#\d+;)/);
      assert.ok(svg.length < 2_500, "a long name does not make a long picture");
    });
  test("no address is in it but the name of the format", () => {
    const svg = drawBadge(page(), "en");
    assert.deepEqual(svg.match(/\w+:\/\/[^"]+/g), ["http://www.w3.org/2000/svg"]);
    assert.match(badgePolicy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'/);
  });
});

test("a name is one visible line, and a text of the server list has no formatting", () => {
  assert.equal(visibleName("  a\n\tb\u200b \u2028c "), "a b c");
  assert.equal(visibleName("👨‍👩‍👧 family"), "👨‍👩‍👧 family");
  assert.equal(plainMotd("§a§lCome§r and §x§1§2play\n§k!"), "Come and play !");
});

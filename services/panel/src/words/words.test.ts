// Both catalogues say everything, and no component says anything by itself.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { faults as proto } from "@svc/proto";
import { parseAst } from "vite";
import { announcements as englishAnnouncements } from "./en/announcements.ts";
import { fileWork as englishFileWork } from "./en/file-work.ts";
import { groups as englishGroups } from "./en/groups.ts";
import { health as englishHealth } from "./en/health.ts";
import { en as english } from "./en/index.ts";
import { knownPlayers as englishKnownPlayers } from "./en/known-players.ts";
import { packs as englishPacks } from "./en/packs.ts";
import { password as englishPassword } from "./en/password.ts";
import { plugins as englishPlugins } from "./en/plugins.ts";
import { provider as englishProvider } from "./en/provider.ts";
import { sshKeys as englishSshKeys } from "./en/ssh-keys.ts";
import { status as englishStatus } from "./en/status.ts";
import { webhooks as englishWebhooks } from "./en/webhooks.ts";
import { announcements as chineseAnnouncements } from "./zh/announcements.ts";
import { fileWork as chineseFileWork } from "./zh/file-work.ts";
import { groups as chineseGroups } from "./zh/groups.ts";
import { health as chineseHealth } from "./zh/health.ts";
import { zh as chinese } from "./zh/index.ts";
import { knownPlayers as chineseKnownPlayers } from "./zh/known-players.ts";
import { packs as chinesePacks } from "./zh/packs.ts";
import { password as chinesePassword } from "./zh/password.ts";
import { plugins as chinesePlugins } from "./zh/plugins.ts";
import { provider as chineseProvider } from "./zh/provider.ts";
import { sshKeys as chineseSshKeys } from "./zh/ssh-keys.ts";
import { status as chineseStatus } from "./zh/status.ts";
import { webhooks as chineseWebhooks } from "./zh/webhooks.ts";

/** With what is loaded later. */
const en = {
  ...english,
  ...englishPacks,
  ...englishHealth,
  password: englishPassword,
  provider: englishProvider,
  hooks: englishWebhooks,
  announced: englishAnnouncements,
  known: englishKnownPlayers,
  grouped: englishGroups,
  shown: englishStatus,
  fileWork: englishFileWork,
  sshKeys: englishSshKeys,
  addOns: englishPlugins,
};
const zh = {
  ...chinese,
  ...chinesePacks,
  ...chineseHealth,
  password: chinesePassword,
  provider: chineseProvider,
  hooks: chineseWebhooks,
  announced: chineseAnnouncements,
  known: chineseKnownPlayers,
  grouped: chineseGroups,
  shown: chineseStatus,
  fileWork: chineseFileWork,
  sshKeys: chineseSshKeys,
  addOns: chinesePlugins,
};

type Node = Readonly<Record<string, unknown>> & { type: string };

/** Every text of a catalogue by its key; of a function, what it says to marked arguments. */
function textsOf(catalogue: object, path = ""): Map<string, { text: string; marks: string[] }> {
  const texts = new Map<string, { text: string; marks: string[] }>();
  for (const [key, value] of Object.entries(catalogue)) {
    const at = `${path}${key}`;
    if (typeof value === "string") texts.set(at, { text: value, marks: [] });
    else if (typeof value === "object") for (const [k, v] of textsOf(value, `${at}.`)) texts.set(k, v);
    else {
      const given = [7001, 7002, 7003].slice(0, value.length);
      const text = String(value(...given));
      texts.set(at, { text, marks: given.map(String).filter((mark) => text.includes(mark)) });
    }
  }
  return texts;
}

test("both catalogues have the same keys with the same placeholders", () => {
  const [first, second] = [textsOf(en), textsOf(zh)];
  assert.deepEqual([...second.keys()].sort(), [...first.keys()].sort());
  for (const [key, { text, marks }] of first) {
    assert.notEqual(text.trim(), "", key);
    assert.notEqual(second.get(key)?.text.trim(), "", key);
    assert.deepEqual(second.get(key)?.marks, marks, key);
  }
});

test("every code of a fault has words", () => {
  const codes = [...new Set(Object.values(proto).map(({ code }) => code))].sort();
  const worded = Object.keys(en.faults).filter((key) => key !== "offline" && key !== "unknown");
  assert.deepEqual(worded.sort(), codes);
});

test("no words are left that nothing shows", () => {
  const root = join(import.meta.dirname, "..");
  const sources = globSync("**/*.{ts,tsx}", { cwd: root })
    .filter((file) => !file.startsWith("words/"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  // Codes of faults come from the service, and those of a passkey from its ceremony.
  const { faults: _, ...areas } = en;
  const unused = Object.entries(areas).flatMap(([area, words]) =>
    Object.keys(words)
      .filter(
        (key) =>
          !new RegExp(`\\.${key}\\b|"${key}"|\\b${key}\\b[^{}]*\\} = use(?:First)?Words`).test(sources),
      )
      .map((key) => `${area}.${key}`),
  );
  assert.deepEqual(unused, []);
});

/** Attributes whose values people read or hear. */
const spoken: ReadonlySet<unknown> = new Set([
  "alt",
  "aria-label",
  "aria-description",
  "aria-roledescription",
  "description",
  "label",
  "placeholder",
  "title",
  "what",
  "word",
]);
const hasWord = (text: unknown) => typeof text === "string" && /\p{L}{2}/u.test(text);

/** Texts that a component writes itself. `translate="no"` marks names. */
function findTexts(node: unknown, found: string[] = []): string[] {
  if (Array.isArray(node)) for (const child of node) findTexts(child, found);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return found;
  const { type } = node as Node;
  const parts = node as Record<string, Node & Record<string, unknown>>;
  if (type === "JSXElement" && isName(node as Node)) return found;
  if (type === "JSXText" && hasWord(parts["value"])) found.push(String(parts["value"]).trim());
  if (type === "JSXAttribute" && !spoken.has((parts["name"] as { name?: unknown }).name)) {
    const { value } = parts;
    if (value?.type === "JSXExpressionContainer") findTexts(innerElements(value), found);
    return found;
  }
  if (type === "JSXAttribute" || type === "JSXExpressionContainer")
    found.push(...shownLiterals(node as Node));
  for (const value of Object.values(node)) findTexts(value, found);
  return found;
}

function isName(element: Node): boolean {
  return JSON.stringify(element["openingElement"]).includes('"translate"');
}

/** String literals that are the value itself, also behind a condition. */
function shownLiterals(node: Node): string[] {
  const inner = (node["expression"] ?? node["value"]) as Node | null | undefined;
  if (!inner) return [];
  if (inner.type === "JSXExpressionContainer") return shownLiterals(inner);
  if (inner.type === "Literal") return hasWord(inner["value"]) ? [String(inner["value"])] : [];
  if (inner.type === "ConditionalExpression")
    return [inner["consequent"], inner["alternate"]].flatMap((value) => shownLiterals({ type: "", value }));
  if (inner.type === "LogicalExpression") return shownLiterals({ type: "", value: inner["right"] });
  return [];
}

/** Elements inside of an attribute, such as a button that is handed over. */
function innerElements(node: unknown): unknown[] {
  if (Array.isArray(node)) return node.flatMap(innerElements);
  if (typeof node !== "object" || node === null) return [];
  if ("type" in node && (node.type === "JSXElement" || node.type === "JSXFragment")) return [node];
  return Object.values(node).flatMap(innerElements);
}

describe("components", () => {
  const root = join(import.meta.dirname, "..");
  const parse = (text: string) => parseAst(text, { lang: "tsx" });

  test("say nothing by themselves", () => {
    const said = globSync("**/*.tsx", { cwd: root }).flatMap((file) =>
      findTexts(parse(readFileSync(join(root, file), "utf8"))).map((text) => `${file}: ${text}`),
    );
    assert.deepEqual(said, []);
  });

  test("are caught when they do", () => {
    const sins = `const a = (x) => <div className="fine" title="Bad title" id={x ? "fine" : "ok"}>
      Bad text {x ? "Bad choice" : null} {x && "Bad and"} <b translate="no">svc</b>
      <A aside={<i>Bad inside</i>} label={x ? "Bad label" : "Bad other"} />
    </div>;`;
    const found = findTexts(parse(sins));
    assert.deepEqual([...new Set(found)].sort(), [
      "Bad and",
      "Bad choice",
      "Bad inside",
      "Bad label",
      "Bad other",
      "Bad text",
      "Bad title",
    ]);
  });
});

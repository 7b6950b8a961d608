import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import {
  bytesOf,
  formatRing,
  generateKey,
  keyOf,
  parseKey,
  parseRing,
  readKeyFile,
  writeKeyFile,
} from "./key.ts";
import {
  compareKeys,
  formatRecordedKeys,
  missingKeys,
  parseRecordedKeys,
  recordKeys,
} from "./recorded-keys.ts";
import { formatSheet, parseSheet, wordsOf } from "./recovery-sheet.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-sealed-"));
after(() => rmSync(folder, { recursive: true }));

const zeroKey = keyOf(Buffer.alloc(32));
const base64 = (key: typeof zeroKey) => bytesOf(key).toString("base64");

describe("a key", () => {
  test("has the id of its documented formula", () => {
    // printf 'svc off-site key\0' and 32 zero bytes, sha256sum
    assert.equal(zeroKey.id, "803d950fd00f3fec");
  });

  test("is not shown when it is printed", () => {
    const key = generateKey();
    for (const text of [inspect(key, { depth: 9 }), JSON.stringify(key), `${key.secret}`])
      assert.ok(!text.includes(base64(key)) && !text.includes(bytesOf(key).toString("hex")), text);
  });

  const wrong: [string, string][] = [
    ["too short", Buffer.alloc(31).toString("base64")],
    ["too long", Buffer.alloc(33).toString("base64")],
    ["base64 of URLs", Buffer.alloc(32, 0xff).toString("base64url")],
    ["hexadecimal", Buffer.alloc(32).toString("hex")],
    ["followed by a blank", `${Buffer.alloc(32).toString("base64")} `],
    ["with bits that do not count", `${"A".repeat(42)}B=`],
  ];
  for (const [what, text] of wrong) {
    test(`${what} is refused, and the message does not have it`, () => {
      assert.throws(
        () => parseKey(text),
        (error: Error & { problem?: string }) =>
          error.problem === "key" && !error.message.includes(text.trim()),
      );
    });
  }
});

describe("a file of keys", () => {
  const path = (name: string) => join(folder, name);

  test("is written once, 0600, and read back", async () => {
    const ring = { active: generateKey(), older: [generateKey()] };
    await writeKeyFile(path("ring"), ring);
    assert.equal(statSync(path("ring")).mode & 0o777, 0o600);
    const read = await readKeyFile(path("ring"));
    assert.equal(base64(read.active), base64(ring.active));
    assert.deepEqual(read.older.map(base64), ring.older.map(base64));
    const before = readFileSync(path("ring"));
    await assert.rejects(writeKeyFile(path("ring"), { active: generateKey(), older: [] }), {
      code: "EEXIST",
    });
    assert.ok(readFileSync(path("ring")).equals(before));
  });

  test("is not there after a disk was too full for it", { skip: process.getuid?.() !== 0 }, async () => {
    const full = path("full");
    mkdirSync(full);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k", "tmpfs", full]);
    try {
      writeFileSync(join(full, "filler"), Buffer.alloc(4_096));
      const file = join(full, "offsite.key");
      await assert.rejects(writeKeyFile(file, { active: generateKey(), older: [] }), { code: "ENOSPC" });
      assert.equal(existsSync(file), false);
    } finally {
      execFileSync("umount", [full]);
    }
  });

  for (const [mode, isRefused] of [
    [0o600, false],
    [0o400, false],
    [0o440, false],
    [0o604, true],
    [0o644, true],
    [0o602, true],
  ] as const) {
    test(`of mode ${mode.toString(8)} is ${isRefused ? "refused" : "read"}`, async () => {
      const file = path(`mode-${mode}`);
      writeFileSync(file, base64(zeroKey));
      chmodSync(file, mode);
      if (isRefused) await assert.rejects(readKeyFile(file), { problem: "key", message: /chmod 600/ });
      else assert.equal((await readKeyFile(file)).active.id, zeroKey.id);
    });
  }

  test("may have comments and empty lines, and the same key only once", () => {
    const text = formatRing({ active: zeroKey, older: [] });
    assert.equal(parseRing(`# mine\r\n\r\n${text}`).active.id, zeroKey.id);
    assert.throws(() => parseRing(text + text), /twice/);
    assert.throws(() => parseRing("# nothing\n"), /no key/);
  });
});

describe("the keys that a bucket names", () => {
  const [one, two, three] = [generateKey(), generateKey(), generateKey()];
  const cases: [string, Parameters<typeof compareKeys>, string][] = [
    ["nothing", [{ active: one, older: [] }, undefined], "unused"],
    ["our active key", [{ active: one, older: [] }, [one.id]], "same"],
    ["our active key and an old one", [{ active: one, older: [] }, [one.id, two.id]], "same"],
    ["our older key", [{ active: one, older: [two] }, [two.id]], "rotated"],
    ["another key", [{ active: one, older: [two] }, [three.id]], "other"],
    ["a key that replaced ours", [{ active: one, older: [] }, [two.id, one.id]], "other"],
  ];
  for (const [what, given, wanted] of cases)
    test(`${what}: ${wanted}`, () => assert.equal(compareKeys(...given), wanted));

  test("grow by the new key, which comes first", () => {
    const ring = { active: one, older: [two] };
    assert.deepEqual(recordKeys(ring, undefined), [one.id]);
    assert.deepEqual(recordKeys(ring, [two.id]), [one.id, two.id]);
    assert.deepEqual(recordKeys(ring, [one.id, two.id]), [one.id, two.id]);
    assert.deepEqual(missingKeys(ring, [one.id, three.id]), [three.id]);
  });

  test("are read back, and anything else is not taken for them", () => {
    assert.deepEqual(parseRecordedKeys(formatRecordedKeys([one.id, two.id])), [one.id, two.id]);
    for (const text of ["", "\n", "<html>", `${one.id}x`, one.id.toUpperCase().replace(/^./, "G")])
      assert.equal(parseRecordedKeys(text), undefined, text);
  });
});

describe("a recovery sheet", () => {
  const key = generateKey();
  const words = wordsOf(key);
  const sheet = formatSheet(key, ["Bucket: worlds at https://backup-2.example:9000/3.x"]);
  const sheetOf = (list: readonly string[]) => `${list.join(" ")}\nKey id: ${key.id}`;

  test("gives the key back: as it is, in words alone, in capitals, over other lines", () => {
    for (const text of [sheet, words.join(" "), words.join("\n").toUpperCase(), sheetOf(words)])
      assert.equal(base64(parseSheet(text)), base64(key), text);
  });

  test("has the words of BIP 39", () => {
    assert.equal(wordsOf(zeroKey).join(" "), `${"abandon ".repeat(23)}art`);
  });

  test("for a thousand keys is read back", () => {
    for (let turn = 0; turn < 1_000; turn += 1) {
      const one = generateKey();
      assert.equal(parseSheet(formatSheet(one, [])).id, one.id);
    }
  });

  test("with a word that is not in the list names it and the nearest", () => {
    const wrong = [...wordsOf(zeroKey)];
    wrong[4] = "abandom";
    assert.throws(() => parseSheet(wrong.join(" ")), {
      problem: "sheet",
      message: 'word 5, "abandom", is not in the list of words; perhaps abandon',
    });
  });

  test("with one wrong word of the list names it and the right one", () => {
    for (const at of [0, 11, 23]) {
      const other = wordlist[(wordlist.indexOf(words[at] ?? "") + 77) % wordlist.length] ?? "";
      assert.throws(() => parseSheet(sheetOf(words.with(at, other))), {
        problem: "sheet",
        message: `word ${at + 1}, "${other}", is wrong: with "${words[at]}" the words belong to the key id`,
      });
    }
  });

  test("with two exchanged words names both", () => {
    const different = words.findIndex((word) => word !== words[0]);
    const exchanged = words.with(0, words[different] ?? "").with(different, words[0] ?? "");
    assert.throws(() => parseSheet(sheetOf(exchanged)), {
      message: `words 1 and ${different + 1} are exchanged`,
    });
  });

  const wrong: [string, string, RegExp][] = [
    ["a missing word", words.slice(1).join(" "), /24 words, not 23/],
    ["a missing number", sheet.replace(/ 7\. \S+/, ""), /word 7 is missing/],
    ["the words of another key", sheetOf(wordsOf(generateKey())), /more than one word is wrong/],
    ["nothing", "", /24 words, not 0/],
  ];
  for (const [what, text, message] of wrong)
    test(`with ${what} says so`, () => assert.throws(() => parseSheet(text), { problem: "sheet", message }));

  test("with a wrong checksum and no key id asks for the id", () => {
    const list = wordsOf(zeroKey).with(23, "zoo");
    assert.throws(() => parseSheet(list.join(" ")), /Give the key id too/);
  });
});

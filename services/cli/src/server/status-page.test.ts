import assert from "node:assert/strict";
import { test } from "node:test";
import { listSentence, sentenceOf } from "./status-page.ts";

const about = { subdomain: "survival", address: "survival.example.net" };

test("what is shown is said with where it is read", () => {
  const hidden = { ...about, public: false, listed: true };
  assert.equal(sentenceOf("inner", hidden), "The status of inner is not shown.");
  const shown = { ...about, public: true, listed: false, since: "2026-11-24T00:00:00.000Z" };
  assert.match(sentenceOf("inner", shown), /\/status\/survival\.\nIts badge is at .*survival\/badge\.svg\.$/);
  assert.match(sentenceOf("inner", { ...shown, listed: true }), /list at \/status/);
  assert.match(listSentence({ public: true, servers: 1 }), /with 1 server\.$/);
  assert.match(listSentence({ public: false, servers: 2 }), /not shown; 2 servers/);
});

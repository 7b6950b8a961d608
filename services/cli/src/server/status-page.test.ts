import assert from "node:assert/strict";
import { test } from "node:test";
import { listSentence, sentenceOf } from "./status-page.ts";

const about = { subdomain: "survival", address: "survival.example.net" };

const at = (path: string) => `https://console.example.net${path}`;

test("what is shown is said with the addresses at which it is read", () => {
  const hidden = { ...about, public: false, listed: true };
  assert.equal(sentenceOf("inner", hidden, at), "The status of inner is not shown.");
  const shown = { ...about, public: true, listed: false, since: "2026-11-24T00:00:00.000Z" };
  assert.equal(
    sentenceOf("inner", shown, at),
    `Everybody reads the status of inner: https://console.example.net/status/survival
Its badge: https://console.example.net/api/v1/status/survival/badge.svg`,
  );
  assert.match(sentenceOf("inner", { ...shown, listed: true }, at), /\nIt is in the list: .*net\/status$/);
  assert.match(listSentence({ public: true, servers: 1 }, at), /with 1 server: .*net\/status$/);
  assert.match(listSentence({ public: false, servers: 2 }, at), /not shown; 2 servers/);
});

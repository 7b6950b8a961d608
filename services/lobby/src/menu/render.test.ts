import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "@svc/minecraft";
import { sayTo } from "@svc/proto/language";
import { pageOf } from "./page.ts";
import { renderPage } from "./render.ts";
import type { Server } from "./tile.ts";

const status = { phase: "Stopped", isReady: false, playersOnline: 3, playersMax: 20, isClaimable: false };
const servers: Server[] = [
  { name: "alpha", status: { ...status, phase: "Running", isReady: true }, verdict: "owner_only" },
  { name: "beta", status: { ...status, isClaimable: true }, verdict: "" },
  { name: "gamma", status: { ...status, phase: "Failed" }, verdict: "start_failed" },
  { name: "delta", status, verdict: "wake" },
  { name: "epsilon", verdict: "" },
];

const readable = (language: "en" | "zh") =>
  renderPage(
    pageOf(servers, 0),
    sayTo(() => language),
  ).map(({ slot, name, lore }) => [slot, plainText(name), ...lore.map(plainText)].join(" | "));

test("tiles say what a click does and how the server is", () => {
  assert.deepEqual(readable("en"), [
    "0 | alpha | Join | 3 of 20 players",
    "1 | beta | Claim & Start | Asleep",
    "2 | gamma | Can't start | Failed | Its last start failed; its owner has to look into it.",
    "3 | delta | Start | Asleep",
    "4 | epsilon | Start | Asking…",
    "49 | Refresh",
  ]);
});

test("a tile says about how long the start takes, once that is known", () => {
  const lines = (language: "en" | "zh", phase: string, startSeconds: number) =>
    renderPage(
      pageOf([{ name: "a", status: { ...status, phase, startSeconds }, verdict: "wake" }], 0),
      sayTo(() => language),
    )[0]?.lore.map(plainText)[1];
  assert.equal(lines("en", "Stopped", 40), "Asleep, starts in about 40 s");
  assert.equal(lines("en", "Starting", 150), "Starting, about 3 min more");
  assert.equal(lines("zh", "Stopped", 40), "休眠中，启动大约需要 40 秒");
  assert.equal(lines("en", "Failed", 40), "Failed");
});

test("in Chinese too", () => {
  assert.equal(readable("zh")[2], "2 | gamma | 无法启动 | 启动失败 | 上次启动失败，需要服主处理。");
});

test("pages have arrows to their neighbours, and no slot twice", () => {
  const many = Array.from({ length: 120 }, (_, index): Server => ({ name: `s${index}`, verdict: "" }));
  const slots = renderPage(
    pageOf(many, 1),
    sayTo(() => "en"),
  ).map(({ slot }) => slot);
  assert.equal(new Set(slots).size, slots.length);
  assert.deepEqual(
    slots.filter((slot) => slot >= 45),
    [45, 49, 53],
  );
});

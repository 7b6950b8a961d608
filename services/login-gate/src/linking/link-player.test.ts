import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "@svc/minecraft";
import { createTestClock } from "@svc/minecraft/testing";
import { defaultRules as rules } from "../config.ts";
import { linkPlayer } from "./link-player.ts";
import type { Answer } from "./policy.ts";

/** A player at the gate of a service that answers as the test says. */
function stand({ locale = "en_us", ...answers }: { locale?: string; look?: Answer } = {}) {
  const { clock, pass, sleeping } = createTestClock();
  const leaving = new AbortController();
  const seen: string[] = [];
  const outcomes: string[] = [];
  const service: { look: Answer; poll: Answer; mint: Answer } = {
    look: { kind: "unlinked" },
    poll: { kind: "unlinked" },
    mint: { kind: "minted", code: "ABCD2345", expiresAt: 600_000 },
    ...answers,
  };
  const done = linkPlayer(
    {
      uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5",
      name: "Notch",
      locale: () => locale,
      say: (text) => seen.push(`chat: ${plainText(text)}`),
      showCard: ({ title, body }) => seen.push(`card: ${title}: ${body.map(plainText).join(" / ")}`),
      hideCard: () => seen.push("card hidden"),
      release: () => seen.push("release"),
      kick: (text) => seen.push(`kick: ${plainText(text)}`),
      left: leaving.signal,
    },
    {
      service: {
        look: async () => service.look,
        poll: async (_, left) => {
          await clock.sleep(rules.pollMs, left);
          return service.poll;
        },
        mint: async () => service.mint,
      },
      panelHost: "console.example.com",
      rules,
      clock,
      onOutcome: (outcome) => outcomes.push(outcome),
    },
  );
  return { seen, outcomes, service, pass, sleeping, done, leave: () => leaving.abort() };
}

test("a player without a link sees the code in chat and on a card, redeems it, and is released", async () => {
  const player = stand();
  await player.pass(3_000);
  assert.equal(player.seen.length, 4);
  assert.match(
    player.seen[1] ?? "",
    /^chat: Open https:\/\/console\.example\.com and enter this code: ABCD2345$/,
  );
  assert.match(player.seen[2] ?? "", /10 minutes/);
  assert.match(player.seen[3] ?? "", /^card: Link your account: .*ABCD2345/);
  player.service.poll = player.service.look = { kind: "linked" };
  await player.pass(1_000);
  assert.deepEqual(player.seen.slice(4), [
    "card hidden",
    "chat: You are signed in. Taking you to the lobby…",
    "release",
  ]);
  assert.deepEqual(player.outcomes, ["code_shown", "release"]);
  player.leave();
  await player.done;
  assert.equal(player.sleeping(), 0);
});

test("a player who redeems a code but was barred meanwhile is kicked", async () => {
  const player = stand();
  await player.pass(2_000);
  player.service.poll = { kind: "linked" };
  player.service.look = { kind: "barred" };
  await player.pass(1_000);
  assert.match(player.seen.at(-1) ?? "", /^kick: You are barred/);
  assert.equal(player.seen.includes("release"), false);
  await player.done;
});

test("an outage is shown once, and the proxy is asked with every attempt", async () => {
  const player = stand({ locale: "zh_cn", look: { kind: "outage" } });
  await player.pass(7_500);
  assert.deepEqual(
    player.seen.filter((line) => line.startsWith("chat")),
    ["chat: 登录服务暂时没有响应。请稍候，我们会继续尝试。"],
  );
  assert.equal(player.seen.filter((line) => line === "release").length, 4);
  await player.pass(60_000);
  assert.match(player.seen.at(-1) ?? "", /^kick: 登录服务暂时无法连接/);
  await player.done;
});

test("a new code takes the place of one that ran out", async () => {
  const player = stand();
  player.service.mint = { kind: "minted", code: "FIRST234", expiresAt: 5_000 };
  await player.pass(1_000);
  player.service.mint = { kind: "minted", code: "SECOND23", expiresAt: 605_000 };
  await player.pass(6_000);
  const cards = player.seen.filter((line) => line.startsWith("card"));
  assert.equal(cards.length, 2);
  assert.match(cards[1] ?? "", /SECOND23/);
  player.leave();
  await player.done;
});

test("nothing more is requested for a player who leaves", async () => {
  const player = stand();
  await player.pass(2_000);
  player.leave();
  await player.done;
  assert.equal(player.sleeping(), 0);
});

// Client addresses forged by the caller, and the many addresses that one IPv6 client has (docs/reference/sign-in.md#session).

import assert from "node:assert/strict";
import { test } from "node:test";
import { type GatewayFixture, panelHost } from "./gateway-fixture.ts";
import { assertRefused, type RawResponse, sendRequest } from "./raw-request.ts";

const limited = { status: 429, code: "rate_limited", says: /Too many sign-in attempts/ };
const burst = 20;
const spellings = ["x-forwarded-for", "forwarded", "x-real-ip", "cf-connecting-ip", "true-client-ip"];

export function checkAddresses(gateways: () => GatewayFixture): void {
  const sendAs = (face: "edged" | "bare", headers: Record<string, string | string[]>) =>
    sendRequest(gateways().port(face), {
      method: "POST",
      path: "/api/v1/auth/options",
      json: { email: "nobody@example.net" },
      headers: { host: panelHost, ...headers },
    });
  /** Twenty attempts are answered and the next one is not: all of them came out of one budget. */
  const assertOneBudget = async (attempt: (index: number) => Promise<RawResponse>) => {
    for (let index = 0; index < burst; index++) assert.equal((await attempt(index)).status, 200, `${index}`);
    assertRefused(await attempt(burst), limited);
  };

  test("without the setting no header changes the counted address", async () => {
    await assertOneBudget((index) => {
      const address = `203.0.113.${index}`;
      const name = spellings[index % spellings.length] ?? "";
      return sendAs("bare", { [name]: name === "forwarded" ? `for=${address}` : address });
    });
  });

  test("behind an edge only the entry that the edge wrote counts, not those of the caller", async () => {
    await assertOneBudget((index) =>
      sendAs("edged", { "x-forwarded-for": `198.51.100.${index}, 10.0.0.${index}, 192.0.2.200` }),
    );
    await assertOneBudget((index) =>
      sendAs("edged", { "x-forwarded-for": [`198.51.100.${index}`, "192.0.2.201"] }),
    );
    await assertOneBudget((index) =>
      sendAs("edged", {
        "x-forwarded-for": `192.0.2.202:${1024 + index}`,
        "x-real-ip": `198.51.100.${index}`,
      }),
    );
  });

  test("an invalid address is counted as the peer", async () => {
    gateways().identity.pass(3_600_000);
    const odd = [
      "",
      ",",
      "unknown",
      "_hidden",
      "300.1.1.1",
      "1.2.3",
      "0x7f.1",
      "[::1",
      "127.0.0.1/8",
      "a\tb",
    ];
    await assertOneBudget((index) => sendAs("edged", { "x-forwarded-for": odd[index % odd.length] ?? "" }));
  });

  test("one IPv6 client has one budget for its whole /64 in any spelling, and its neighbour another", async () => {
    const mine = (index: number) =>
      [
        `2001:db8:5:6::${(index + 1).toString(16)}`,
        `2001:0DB8:0005:0006:${index + 1}:0:0:1`,
        `[2001:db8:5:6:ffff:${index + 1}::]:4711`,
        `2001:db8:5:6::192.0.2.${index}`,
      ][index % 4] ?? "";
    await assertOneBudget((index) => sendAs("edged", { "x-forwarded-for": mine(index) }));
    assert.equal((await sendAs("edged", { "x-forwarded-for": "2001:db8:5:7::1" })).status, 200);
  });

  test("an IPv4 address has one budget, also as IPv6 in any spelling", async () => {
    const mine = ["192.0.2.203", "::ffff:192.0.2.203", "::FFFF:c000:2cb", "[::ffff:c000:02cb]:80"];
    await assertOneBudget((index) => sendAs("edged", { "x-forwarded-for": mine[index % mine.length] ?? "" }));
  });
}

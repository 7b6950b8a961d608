import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import { pino } from "pino";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";
import { openServiceTokens } from "./service-tokens.ts";

let fixture: GatewayFixture;
const log = createLogger("test", "silent");

before(async () => {
  fixture = await startGatewayFixture();
  fixture.owner.serve(contracts.service, ({ principal, client, requestId, traceparent }, input) => ({
    ...{ principal, client, traceparent, input },
    request_id: requestId,
  }));
});
after(() => fixture.close());

const codeOf = (answer: { json: () => Record<string, unknown> }) =>
  (answer.json()["error"] as Record<string, unknown> | undefined)?.["code"];

describe("service tokens", () => {
  const values = { velocity: "token-v", limbo: "token-l" };
  const ask = (port: number, authorization?: string) =>
    send(port, { path: "/service", headers: authorization === undefined ? {} : { authorization } });
  const cases: [string | undefined, number, string | undefined][] = [
    ["Bearer token-v", 200, undefined],
    ["bearer token-v", 200, undefined],
    ["Bearer token-l", 403, "wrong_caller"],
    ["Bearer token-x", 401, "unauthorized"],
    ["Bearer ", 401, "unauthorized"],
    ["Bearer undefined", 401, "unauthorized"],
    ["token-v", 401, "unauthorized"],
    ["Basic token-v", 401, "unauthorized"],
    [undefined, 401, "unauthorized"],
  ];
  test("only the listed caller is accepted; a valid token of another is wrong_caller", async () => {
    const own = await fixture.startFace({ face: "internal", tokens: openServiceTokens({ values, log }) });
    for (const [header, status, code] of cases) {
      const answer = await ask(own.port, header);
      assert.equal(answer.status, status, header);
      assert.equal(codeOf(answer), code);
    }
    assert.equal(own.log[0]?.["principal"], "velocity");
    assert.ok(!JSON.stringify(own.log).includes("token-v"));
  });
  test("without any configured token every caller is refused", async () => {
    const own = await fixture.startFace({
      face: "internal",
      tokens: openServiceTokens({ values: { velocity: "" }, log }),
    });
    assert.equal((await ask(own.port, "Bearer ")).status, 401);
    assert.equal((await ask(own.port)).status, 401);
  });
  test("two callers with one token prevent the start, and the message names both", () => {
    assert.throws(
      () => openServiceTokens({ values: { velocity: "same", ops: "same" }, log }),
      /velocity and ops are equal/,
    );
  });
  test("a rotated file is read without a restart; an invalid rotation keeps the previous tokens", async () => {
    const dir = mkdtempSync(join(tmpdir(), "svc-tokens-"));
    const complaints: string[] = [];
    try {
      writeFileSync(join(dir, "velocity"), "first\n");
      const noisy = pino({}, { write: (line: string) => void complaints.push(line) });
      const tokens = openServiceTokens({ dir, log: noisy, rereadMs: 10 });
      const callerOf = (token: string) => tokens.callerOf(`Bearer ${token}`);
      assert.equal(callerOf("first"), "velocity");
      writeFileSync(join(dir, "velocity"), "second\n");
      await until(() => callerOf("second") === "velocity");
      assert.equal(callerOf("first"), undefined);
      writeFileSync(join(dir, "ops"), "second");
      await until(() => callerOf("second") === "velocity" && complaints.length > 0);
      assert.match(complaints[0] ?? "", /keeping the previous ones/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "@svc/client";
import { exchangeCode } from "./mail-code.ts";

const refusal = (status: number, code: string) =>
  new ApiError("Refused.", { status, code, requestId: "r-1" });

describe("a code that is given with the command", () => {
  test("is tried before one is mailed", async () => {
    const tried: string[] = [];
    const answer = await exchangeCode({
      send: () => Promise.reject(new Error("nothing is to be mailed")),
      verify: async (code) => tried.push(code),
      known: "123456",
      sent: "",
      again: "svc account setup",
    });
    assert.deepEqual([answer, tried], [1, ["123456"]]);
  });

  test("ends with a refusal that another code would not change", async () => {
    const exchange = exchangeCode({
      verify: () => Promise.reject(refusal(429, "otp_account_locked")),
      known: "123456",
      sent: "",
      again: "svc account setup",
    });
    await assert.rejects(exchange, { name: "RefusedError", code: "otp_account_locked" });
  });
});

test("a mail that cannot be sent ends the exchange before a code is asked for", async () => {
  const exchange = exchangeCode({
    send: () => Promise.reject(refusal(503, "mail_unavailable")),
    verify: () => Promise.reject(new Error("there is no code")),
    sent: "",
    again: "svc account setup",
  });
  await assert.rejects(exchange, { name: "RefusedError", code: "mail_unavailable" });
});

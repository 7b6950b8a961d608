import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { z } from "zod";
import { relaySettings } from "./config.ts";
import { smtpSection } from "./smtp-section.ts";

const load = (given: readonly string[], env = {}) => {
  const overrides = ["smtp.from=a@example.org", ...given];
  return relaySettings(loadSettings(z.strictObject({ smtp: smtpSection }), { overrides }).smtp, 1, env);
};

test("TLS is required unless the relay is on this machine or the file disables it", () => {
  const requireTls = (...given: string[]) => load(given)?.requireTls;
  assert.equal(requireTls(), undefined);
  assert.equal(requireTls("smtp.host=mail.example.org"), true);
  assert.equal(requireTls("smtp.host=localhost"), false);
  assert.equal(requireTls("smtp.host=127.0.0.1"), false);
  assert.equal(requireTls("smtp.host=127.0.0.1.example.org"), true);
  assert.equal(requireTls("smtp.host=mail.example.org", "smtp.require_tls=false"), false);
  assert.equal(requireTls("smtp.host=localhost", "smtp.require_tls=true"), true);
});

test("the relay's password is read from the variable that the file names", () => {
  assert.equal(
    load(["smtp.host=localhost", "smtp.password_ref=OTHER"], { OTHER: "secret" })?.password,
    "secret",
  );
});

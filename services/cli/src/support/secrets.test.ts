import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { knownSecrets } from "./secrets.ts";

test("variables and files that settings name are secrets, whatever they are called and however the setting is written", () => {
  const data = mkdtempSync(join(tmpdir(), "svc-secrets-"));
  try {
    const file = (name: string, text: string) => {
      writeFileSync(join(data, name), text);
      return join(data, name);
    };
    const settings = [
      "[offsite]",
      'access_key_ref = "SVC_S3_ID"',
      "secret_key_ref = 'SVC_S3_ONE'",
      `key_file = '${file("key", "secret of a file\n")}'`,
      "[ops_watchdog]",
      `channels = [{ name = "chat", url_ref = "SVC_CHAT", secret_file = "${file("chat", "secret of chat")}" }]`,
      "[smtp]",
      '"password_ref" = "RELAY"',
    ];
    file("svc.toml", settings.join("\n"));
    const env = {
      SVC_S3_ID: "id of a key",
      SVC_S3_ONE: "plain+secret/1",
      SVC_CHAT: "https://chat.example.net/hooks/1?key=of-the-query",
      RELAY_FILE: file("relay", "secret of the relay"),
      SVC_SET: "registry.push_token_ref=PUSH\nsmtp.host=relay.example.net",
      PUSH: "secret to push",
      HOME: "/home/alex",
    };
    const found = knownSecrets(data, env);
    for (const secret of [
      ...["id of a key", "plain+secret/1", env.SVC_CHAT, "of-the-query", "secret of a file"],
      ...["secret of chat", "secret of the relay", "secret to push"],
    ])
      assert.ok(found.has(secret), secret);
    assert.ok(!found.has("/home/alex") && !found.has("relay.example.net"));
  } finally {
    rmSync(data, { recursive: true });
  }
});

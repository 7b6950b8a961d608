import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRedact } from "./redact.ts";

const redact = createRedact(["correct horse battery", "tiny", 'quo"ted/pass word', "aBcD_1234-known"]);

describe("what leaves a text", () => {
  const pem = [
    "-----BEGIN PRIVATE KEY-----",
    "MIIEvQIBADANBg",
    "kqhkiG9w0",
    "-----END PRIVATE KEY-----",
  ].join("\n");
  const table: [what: string, text: string, secret: string][] = [
    ["a known secret", "the password is correct horse battery!", "correct horse"],
    ["a known secret in JSON", '{"msg":"quo\\"ted/pass word"}', "ted/pass"],
    ["a known secret in a URL", "at https://a.example/quo%22ted%2Fpass%20word", "ted%2Fpass"],
    ["a known secret in base64", Buffer.from("correct horse battery").toString("base64"), "Y29ycmVjdC"],
    ["the password of a URL", "nats://operator:hunter2@127.0.0.1:4222", "hunter2"],
    ["a token of a query", "http://127.0.0.1/setup?token=hunter2", "hunter2"],
    ["the path of another machine", "https://hooks.example/api/webhooks/hunter2", "hunter2"],
    ["a bearer token", "authorization: Bearer hunter2", "hunter2"],
    ["a basic header in JSON", '{"headers":{"Authorization":"Basic hunter2"}}', "hunter2"],
    ["a session cookie", "cookie=a=b; svc_session=hunter2; c=d", "hunter2"],
    ["a session cookie of a host", "sent svc_session_op=hunter2 again", "hunter2"],
    ["a key of a nested object", '{"a":[{"smtp_password":"hunter2"}]}', "hunter2"],
    ["a number as a token", '{"api_key":123456789}', "123456789"],
    ["JSON in a string", '{"msg":"{\\"token\\":\\"hunter2\\"}"}', "hunter2"],
    ["a setting", 'smtp_password = "hunter2 and more"', "hunter2 and more"],
    ["a variable", "SVC_NATS_PASSWORD=hunter2", "hunter2"],
    ["a mailed code", '{"msg":"mail sent","code":"123456"}', "123456"],
    ["a mailed code in words", "the code for bob is 123456", "123456"],
    ["a bind code", '{"bind_code":"QY6NWHXD"}', "QY6NWHXD"],
    ["a key of S3", '{"access_key":"AKIA","secret_access_key":"hunter2+a/b"}', "hunter2"],
    ["a header of a key", "x-api-key: $2a$10$hunter2.x/y", "hunter2"],
    ["a passphrase", "passphrase=hunter2", "hunter2"],
    ["an unknown key in base64", "got wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY from it", "bPxRfi"],
    ["an e-mail address", "mail to bob.builder@mail.example.net failed", "bob.builder"],
    ["an address in other letters", "mail to änne@exämple.net failed", "änne"],
    ["a private key", `before\n${pem}\nafter`, "MIIEvQ"],
    [
      "an encrypted key",
      pem.replace("MII", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0\n\nMII"),
      "MIIEvQ",
    ],
    ["an unknown token", "got bOEOzkL2rzvxvifueg45KgpqrM99shKR from it", "bOEOzkL2"],
    ["an unknown hash", `session ${"0a1b".repeat(16)} ended`, "0a1b0a1b"],
  ];
  for (const [what, text, secret] of table)
    test(what, () => {
      assert.ok(text.includes(secret));
      assert.ok(!redact(text).includes(secret), redact(text));
    });
});

describe("what stays", () => {
  const table = [
    '{"level":"info","time":"2026-11-20T14:44:48.116Z","service":"storage","msg":"poll failed; retrying"}',
    "GET /api/v1/servers/survival/status 200 in 3 ms",
    '{"route":"/api/v1/auth/setup/redeem","status":401,"request_id":"5b2b6b5e-95aa-4b7a-8a5e-0f4e6c1d2a3b"}',
    `image sha256:${"0a1b".repeat(16)} pulled`,
    'svc_http_requests_total{face="external",method="GET",route="/api/v1/servers",code="200"} 7',
    'token_ref = "SVC_NATS"',
    'access_key_ref = "SVC_OFFSITE_ACCESS_KEY"',
    "worlds/survival/region/Chunks1/of/the/Overworld/r.0.0.mca and /srv/svc/Worlds1/Survival/of/everybody/here",
    `server:1.21.4@sha256:${"0a1b".repeat(16)}`,
    "http://127.0.0.1:8081/api/v1/servers answered 503",
    '{"error":{"code":"ECONNREFUSED"}}',
    "tiny",
    '{"tokens_left":3,"password":null}',
  ];
  for (const text of table) test(text.slice(0, 60), () => assert.equal(redact(text), text));
});

test("a line of JSON stays one", () => {
  const text = JSON.stringify({
    msg: 'token="hunter2" password: hunter2',
    token: "hunter2",
    list: [{ cookie: 1 }],
  });
  const left = redact(text);
  assert.deepEqual(JSON.parse(left), {
    msg: 'token="[secret]" password: [secret]',
    token: "[secret]",
    list: [{ cookie: "[secret]" }],
  });
});

test("a long line takes no longer than its length", () => {
  const started = performance.now();
  for (const unit of ["a", "a.", "a@", "http://", "token=", "-----BEGIN A-----", "Aa1"])
    redact(unit.repeat(100_000 / unit.length));
  assert.ok(performance.now() - started < 20_000);
});

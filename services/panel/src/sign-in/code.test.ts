import assert from "node:assert/strict";
import { test } from "node:test";
import { gameCode, mailedCode } from "./code.ts";
import { deviceName } from "./device-name.ts";

test("codes are taken however they are pasted", () => {
  assert.equal(mailedCode(" 123 456\n"), "123456");
  assert.equal(mailedCode("code: 12-34-56 7"), "123456");
  assert.equal(gameCode("qy6n - whxd"), "QY6NWHXD");
  assert.equal(gameCode("QY6N WHXD extra"), "QY6NWHXD");
});

test("a device is named by browser and system", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
  const edge = `${chrome.replace("X11; Linux x86_64", "Windows NT 10.0")} Edg/156.0.0.0`;
  assert.equal(deviceName(chrome), "Chrome, Linux");
  assert.equal(deviceName(edge), "Edge, Windows");
  assert.equal(deviceName("curl/8"), "");
});

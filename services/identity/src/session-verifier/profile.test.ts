import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  isPlayerName,
  namespace,
  parseUuid,
  prefixedName,
  readProfile,
  readQuery,
  thirdPartyId,
  toDashed,
} from "./profile.ts";

const notch = "069a79f444e94726a5befca90e38aaf5";

test("the namespace is the UUIDv5 of its documented URL and never changes", () => {
  const bytes = createHash("sha1")
    .update(Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex"))
    .update("https://svc.internal/auth-source")
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  assert.equal(namespace, bytes.toString("hex"));
  assert.equal(namespace, "7afa40da79985c51ba579aa83281379e");
});

test("a third party's player has the UUIDv3 of tag and id, as other implementations compute it", () => {
  // Python: uuid.uuid3(UUID("7afa40da-7998-5c51-ba57-9aa83281379e"), "ely:069a79f444e94726a5befca90e38aaf5")
  assert.equal(toDashed(thirdPartyId("ely", notch)), "b2244802-0e8d-3425-ae39-09a5ac95ff63");
});

test("the spelling of a UUID by a source does not change the player; another tag or id does", () => {
  const one = thirdPartyId("ely", notch);
  assert.equal(thirdPartyId("ely", toDashed(notch).toUpperCase()), one);
  assert.notEqual(thirdPartyId("other", notch), one);
  assert.notEqual(thirdPartyId("ely", `${notch} `), one);
  assert.notEqual(thirdPartyId("ely", "Notch"), thirdPartyId("ely", "notch"));
});

const uuids: Record<string, string | undefined> = {
  [notch]: notch,
  "069a79f4-44e9-4726-a5be-fca90e38aaf5": notch,
  "069A79F4-44E9-4726-A5BE-FCA90E38AAF5": notch,
  "069a79f4-44e94726a5befca90e38aaf5": notch,
  "069a79f444e94726a5befca90e38aaf": undefined,
  "069a79f444e94726a5befca90e38aafg": undefined,
  "0 69a79f444e94726a5befca90e38aaf5": undefined,
  "069a79f444e94726a5befca90e38aaf5\n": undefined,
  "": undefined,
};
for (const [text, expected] of Object.entries(uuids))
  test(`the UUID ${JSON.stringify(text)} is ${expected ? "one" : "none"}`, () =>
    assert.equal(parseUuid(text), expected));

const names: Record<string, boolean> = {
  Notch: true,
  _x_: true,
  Abc: true,
  "1234567890123456": true,
  "12345678901234567": false,
  ab: false,
  "": false,
  "No tch": false,
  Nоtch: false,
  ｎotch: false,
  "Notch\u200b": false,
  "Notch\n": false,
  "§cNotch": false,
  Nötch: false,
  "../etc": false,
};
for (const [name, isLegal] of Object.entries(names))
  test(`${JSON.stringify(name)} is ${isLegal ? "a" : "no"} player name`, () =>
    assert.equal(isPlayerName(name), isLegal));

test("a prefixed name is cut to sixteen characters", () => {
  assert.equal(prefixedName("EL", "Notch"), "EL_Notch");
  assert.equal(prefixedName("ABCD", "1234567890123456"), "ABCD_12345678901");
});

const queries: Record<string, [Parameters<typeof readQuery>[0], boolean]> = {
  "both parameters are forwarded": [{ username: "a", serverId: "b" }, true],
  "an address is forwarded": [{ username: "a", serverId: "b", ip: "192.0.2.1" }, true],
  "64 bytes are forwarded": [
    { username: "a".repeat(64), serverId: "b".repeat(64), ip: "c".repeat(64) },
    true,
  ],
  "65 bytes of a name are rejected": [{ username: "a".repeat(65), serverId: "b" }, false],
  "65 bytes of an id are rejected": [{ username: "a", serverId: "b".repeat(65) }, false],
  "65 bytes of an address are rejected": [{ username: "a", serverId: "b", ip: "c".repeat(65) }, false],
  "bytes are counted, not characters": [{ username: "字".repeat(22), serverId: "b" }, false],
  "a missing name is rejected": [{ serverId: "b" }, false],
  "an empty name is rejected": [{ username: "", serverId: "b" }, false],
  "a missing id is rejected": [{ username: "a" }, false],
};
for (const [fact, [query, isAsked]] of Object.entries(queries))
  test(`in a request ${fact}`, () => assert.equal(readQuery(query) !== undefined, isAsked));

const bodies: Record<string, [string, boolean]> = {
  "an id and a name are a profile": ['{"id":"x","name":"y"}', true],
  "properties are kept": ['{"id":"x","name":"y","properties":[{"name":"textures"}]}', true],
  "other fields are ignored": ['{"id":"x","name":"y","legacy":true}', true],
  "an empty body is not a profile": ["", false],
  "a text is not a profile": ["<html>", false],
  "null is not a profile": ["null", false],
  "a list is not a profile": ["[]", false],
  "a missing id is not a profile": ['{"name":"y"}', false],
  "an empty id is not a profile": ['{"id":"","name":"y"}', false],
  "a number as id is not a profile": ['{"id":7,"name":"y"}', false],
  "a missing name is not a profile": ['{"id":"x"}', false],
  "properties that are not a list are not a profile": ['{"id":"x","name":"y","properties":{}}', false],
  "a property that is not an object is not a profile": ['{"id":"x","name":"y","properties":["a"]}', false],
};
for (const [fact, [body, isProfile]] of Object.entries(bodies))
  test(`in a 200 ${fact}`, () => assert.equal(readProfile(body) !== undefined, isProfile));

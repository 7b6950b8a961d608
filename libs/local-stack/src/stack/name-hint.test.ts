import assert from "node:assert/strict";
import { test } from "node:test";
import { nameHint } from "./name-hint.ts";

const about = { rootDomain: "svc.localhost", game: { host: "127.0.0.1", port: 25_565 } };

test("a machine that knows the names needs no hint", async () => {
  assert.equal(await nameHint(about, async () => ({ address: "127.0.0.1", family: 4 })), undefined);
});

test("a machine that does not is told what to write and where to go without", async () => {
  const unknown = () => Promise.reject(new Error("ENOTFOUND"));
  assert.match(
    (await nameHint(about, unknown)) ?? "",
    /"127\.0\.0\.1 survival\.svc\.localhost" into \/etc\/hosts .* join 127\.0\.0\.1 and choose a server with \/menu$/,
  );
  const moved = { ...about, game: { host: "127.0.0.1", port: 26_000 } };
  assert.match((await nameHint(moved, unknown)) ?? "", /join 127\.0\.0\.1:26000 and/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { settings } from "./config.ts";

const load = (...overrides: string[]) => loadSettings(settings, { overrides });

test("the defaults are those of the specification", () => {
  assert.deepEqual(load(), {
    registry: { url: "", timeout: 5_000 },
    builds: { recommended: [], list_page: 500 },
  });
});

for (const url of ["http://registry:5000", "registry:5000/path", "user@registry", "registry:port", "-x"]) {
  test(`${url} is no address of a registry`, () => {
    assert.throws(() => load(`registry.url=${url}`), { name: "ConfigError", message: /registry\.url/ });
  });
}

for (const url of ["registry:5000", "127.0.0.1:5000", "registry.example.org", "[::1]:5000"]) {
  test(`${url} is an address of a registry`, () => {
    assert.equal(load(`registry.url=${url}`).registry.url, url);
  });
}

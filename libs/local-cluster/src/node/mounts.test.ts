import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBackOff } from "./back-off.ts";
import { expand } from "./expand.ts";
import { mountVariables, realPath, rewriteArgument } from "./mounts.ts";

const MOUNTS = [
  { name: "world", mountPath: "/data", dir: "/disk/world" },
  { name: "game-mods", mountPath: "/data/mods", dir: "/disk/mods" },
];

describe("a mount without a mount namespace", () => {
  const cases: [string, string][] = [
    ["/data", "/disk/world"],
    ["/data/level.dat", "/disk/world/level.dat"],
    ["/data/mods/a.jar", "/disk/mods/a.jar"],
    ["/database", "/database"],
    ["--data=/data", "--data=/disk/world"],
    ["text with /data inside", "text with /data inside"],
  ];
  for (const [argument, expected] of cases) {
    it(`turns the argument ${argument} into ${expected}`, () => {
      assert.equal(rewriteArgument(argument, MOUNTS), expected);
    });
  }

  it("keeps a value with an equals sign unless the value itself is a path", () => {
    assert.equal(realPath("a=/data", MOUNTS), "a=/data");
  });

  it("sets a variable named for the volume to each directory", () => {
    assert.deepEqual(mountVariables(MOUNTS), {
      SVC_MOUNT_WORLD: "/disk/world",
      SVC_MOUNT_GAME_MODS: "/disk/mods",
    });
  });
});

describe("variable references", () => {
  it("are expanded where the name is known, else kept; a doubled dollar sign becomes one", () => {
    assert.equal(expand("$(A)-$(B)-$$(A)-$A", { A: "1" }), "1-$(B)-$(A)-$A");
  });
});

describe("crash back-off", () => {
  it("restarts at once first, then doubles up to five minutes", () => {
    const backOff = createBackOff(10_000);
    const waits = Array.from({ length: 8 }, () => backOff.nextMs(1000));
    assert.deepEqual(waits, [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  it("is reset after ten minutes of running", () => {
    const backOff = createBackOff(10_000);
    for (let life = 0; life < 4; life += 1) backOff.nextMs(0);
    assert.equal(backOff.nextMs(600_000), 0);
  });
});

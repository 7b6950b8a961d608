import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import type { Area } from "./fixture.ts";

const { builds } = packs;

export const addBuildTests: Area = (fixture) => {
  test("staff see that nothing was built yet, and how a build begins", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/"));
    await owner.press("link", en.shell.builds);
    await owner.isAt("/admin/builds");
    await owner.sees(builds.none);
    await owner.sees(builds.noneHelp);
    await inspect(owner, "builds-empty");
    await owner.fill(builds.search, "sky");
    await owner.sees(builds.noMatch);
    await owner.press("button", builds.clear);
    await owner.sees(builds.noneHelp);
  });

  test("a build that does not exist is not found", async () => {
    const { owner, addressOf, inspect } = fixture();
    for (const id of ["0".repeat(32), "NOT-AN-ID"]) {
      await owner.open(addressOf("admin_host", `/admin/builds/${id}`));
      await owner.sees(builds.notFound);
    }
    await inspect(owner, "build-not-found");
  });
};

import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const image = "registry.example.net/a-team-with-a-long-name/minecraft-server:java21";

export const addPlatformTests: Area = (fixture) => {
  test("an image is allowed and removed again", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin"));
    await owner.isAt("/admin/images");
    await owner.fill(en.images.ref, "bad@image");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.images.badRef);
    await owner.fill(en.images.ref, image);
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.images.added(isolate(image)));
    await inspect(owner, "images");
    await owner.press("button", en.images.removeOf(isolate(image)));
    await owner.sees(en.images.removeHelp);
    await inspect(owner, "images-remove");
    await owner.press("button", en.images.removeAction);
    await owner.page.waitForFunction(
      (ref: string) => ![...document.querySelectorAll("li code")].some((code) => code.textContent === ref),
      {},
      image,
    );
  });

  test("the owner switches passwords on and off", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin/settings"));
    await owner.page.locator("input[type=checkbox]").click();
    await owner.sees(en.platformSettings.saved);
    await inspect(owner, "settings");
    await owner.page.waitForSelector("input[type=checkbox]:checked");
    await owner.page.locator("input[type=checkbox]").click();
    await owner.page.waitForSelector("input[type=checkbox]:not(:checked)");
  });
};

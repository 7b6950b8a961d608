// The page about plugins and mods.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { plugins as words } from "../../services/panel/src/words/en/plugins.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import { type Person, writeFile } from "./person.ts";

export const addPluginTests: Area = (fixture) => {
  const open = async (): Promise<Person> => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/plugins"));
    await owner.sees(words.installed);
    return owner;
  };

  test("a plugin is found, planned, installed and updated, and one put there by hand is removed", async () => {
    const { owner, inspect, catalogue } = fixture();
    catalogue.release("Towers", { id: "One", day: 1 });
    await owner.request("POST", "/servers/survival/files/mkdir?path=plugins");
    const { status, body } = await writeFile(
      owner,
      { server: "survival", path: "plugins/hand.jar" },
      "no real jar",
    );
    assert.equal(status, 200, JSON.stringify(body));
    await open();
    await owner.sees(words.states.by_hand);
    await owner.page.select("main section select", "paper");
    await owner.fill(words.gameVersion, "1.21.4");
    await inspect(owner, "plugins");
    await owner.fill(words.text, "towers");
    await owner.page.keyboard.press("Enter");
    await owner.sees(words.found(1));
    await inspect(owner, "plugins-found");
    const title = isolate("Towers <b>");
    await owner.press("button", words.installOf(title));
    await owner.sees("plugins/Towers-One.jar");
    await inspect(owner, "plugins-plan");
    await owner.press("button", words.install);
    await owner.sees(words.done);
    await owner.sees(words.states.as_installed);
    await owner.press("button", words.updates);
    await owner.sees(words.upToDate);
    await inspect(owner, "plugins-installed");
    await owner.press("button", words.removeOf(isolate("plugins/hand.jar")));
    await owner.sees(words.removeHelp);
    await owner.press("button", words.remove);
    await owner.sees(words.removed(isolate("plugins/hand.jar")));
  });

  test("a catalogue that is away says so, and what is installed already is refused", async () => {
    const { inspect, catalogue } = fixture();
    const owner = await open();
    await owner.fill(words.text, "towers");
    await owner.page.keyboard.press("Enter");
    await owner.press("button", words.installOf(isolate("Towers <b>")));
    await owner.sees(words.problems.already_installed(isolate("Project Towers")));
    await inspect(owner, "plugins-refused");
    await owner.press("button", en.shell.cancel);
    catalogue.put("/hangar/api/v1/projects", (_request, response) => void response.writeHead(500).end());
    await owner.page.select("[aria-labelledby=plugins-search] select", "hangar");
    await owner.press("button", words.searchAction);
    await owner.sees(en.faults.catalogue_unavailable);
    await inspect(owner, "plugins-away");
  });

  test("what fits and is more than one answer holds is read by pages", async () => {
    const { inspect, catalogue } = fixture();
    const total = 45;
    catalogue.put("/modrinth/v2/search", (request, response) => {
      const offset = Number(new URL(request.url ?? "", catalogue.origin).searchParams.get("offset"));
      const hits = Array.from({ length: Math.min(20, total - offset) }, (_, at) =>
        projectHit(offset + at + 1),
      );
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ hits, offset, limit: 20, total_hits: total }));
    });
    const owner = await open();
    await owner.fill(words.text, "many");
    await owner.page.keyboard.press("Enter");
    await owner.sees(words.foundPart(1, 20, total));
    await owner.press("button", words.next);
    await owner.sees(words.foundPart(21, 40, total));
    await owner.press("button", words.next);
    await owner.sees("Project 45");
    await inspect(owner, "plugins-last-page");
    await owner.press("button", words.previous);
    await owner.sees(words.foundPart(21, 40, total));
  });
};

/** A project as Modrinth's search answers. */
function projectHit(number: number) {
  return {
    project_id: `Project${number}`,
    ...{ slug: `project-${number}`, title: `Project ${number}`, description: "Makes things", author: "Ada" },
    ...{ downloads: number, project_type: "plugin", versions: ["1.21.4"], categories: ["paper"], follows: 1 },
  };
}

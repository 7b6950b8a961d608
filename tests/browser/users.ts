import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area, Fixture } from "./fixture.ts";

const name = "a-name-of-thirty-two-characters.1";

export const addUserTests: Area = (fixture) => {
  const usersOf = ({ owner, addressOf }: Fixture) => owner.open(addressOf("admin_host", "/admin/users"));

  test("the owner creates a user, limits, links, disables and enables them", async () => {
    const { owner, inspect } = fixture();
    await usersOf(fixture());
    await owner.press("button", en.users.create);
    await owner.fill(en.users.name, "no");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.users.fieldFaults.username);
    await inspect(owner, "users-create-refused");
    await owner.fill(en.users.name, name);
    await owner.fill(en.users.email, "long@example.net");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.users.noPlayers);
    await inspect(owner, "user-new");

    await owner.fill(en.users.limits.max_cpu_milli, "1.25");
    await owner.fill(en.users.limits.max_servers, "many");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.invalid_quota);
    await owner.fill(en.users.limits.max_servers, "2");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.users.quotaSaved);

    await owner.fill(en.users.playerId, "12345678-1234-4234-8234-123456789abc");
    await owner.page.keyboard.press("Enter");
    await owner.press("button", en.account.unlinkOf(isolate("12345678-1234-4234-8234-123456789abc")));
    await owner.press("button", en.account.unlinkAction);
    await owner.sees(en.users.noPlayers);

    await owner.press("button", en.users.disable);
    await owner.sees(en.users.disableHelp);
    await owner.page.locator(`[role=alertdialog] ::-p-text(${en.users.disable})`).click();
    await owner.sees(en.users.disabledHelp);
    await inspect(owner, "user-disabled");
    await owner.press("button", en.users.enable);
    await owner.sees(en.users.activeHelp);
    await owner.press("button", en.users.edit);
    await owner.page.select(`::-p-aria([name="${en.users.role}"][role="combobox"])`, "admin");
    await owner.sees(en.users.roleChangeHelp);
    await inspect(owner, "user-edit");
    await owner.press("button", en.users.editAction);
    await owner.sees(en.account.roles.admin);
  });

  test("a search stands in the address, and a user is deleted by their name", async () => {
    const { owner, inspect } = fixture();
    await usersOf(fixture());
    await owner.sees(name);
    await inspect(owner, "users");
    await owner.fill(en.users.search, "nobody is called so");
    await owner.sees(en.users.noMatch);
    await inspect(owner, "users-no-match");
    await owner.fill(en.users.search, "THIRTY-TWO");
    await owner.sees(en.users.shown(1, 1));
    assert.equal(new URL(owner.page.url()).searchParams.get("q"), "THIRTY-TWO");
    await owner.press("link", isolate(name).slice(1, -1));
    await owner.press("button", en.users.removeAction);
    await owner.page.locator('input[name="confirm"]').fill(name);
    await inspect(owner, "user-delete");
    await owner.page.keyboard.press("Enter");
    await owner.isAt("/admin/users");
    await owner.sees(en.users.removed(isolate(name)));
  });

  test("the audit log is narrowed down by the address, and unfolds what was written down", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin/audit"));
    await owner.sees(en.audit.actions["user.delete"]);
    await inspect(owner, "audit");
    await owner.page.locator("summary").click();
    await owner.sees(en.audit.request);
    await inspect(owner, "audit-unfolded");
    await owner.page.locator(`::-p-text(${en.audit.onlyAction})`).click();
    await owner.sees(en.audit.shown(1));
    assert.equal(new URL(owner.page.url()).searchParams.get("action"), "user.delete");
    await owner.open(addressOf("admin_host", "/admin/audit?actor=nobody&since=2020-01-01"));
    await owner.sees(en.audit.none);
    await inspect(owner, "audit-none");
    await owner.press("button", en.audit.clear);
    await owner.sees(en.audit.actions["user.create"]);
  });

  test("pages of the platform are neither on the panel's host nor for impossible ids", async () => {
    const { owner, player, addressOf } = fixture();
    await player.open(addressOf("panel_host", "/admin/users"));
    await player.sees(en.shell.home);
    for (const id of ["%2e%2e%2f", "a".repeat(65), "0".repeat(32)]) {
      await owner.open(addressOf("admin_host", `/admin/users/${id}`));
      await owner.sees(en.shell.home);
    }
  });
};

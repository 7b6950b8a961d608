// SSH keys on the account page, and where a server's files page says that SFTP is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sshKeys } from "../../services/panel/src/words/en/ssh-keys.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { makeKey } from "../flow/sftp-client.ts";
import { send } from "../flow/stack.ts";
import { playerAtAccount } from "./api-tokens.ts";
import type { Area } from "./fixture.ts";

const fingerprint = `SHA256:${"a".repeat(43)}`;

export const addSshKeyTests: Area = (fixture) => {
  test("an SSH key is pasted, listed and removed, and a private one is never sent", async () => {
    const { inspect } = fixture();
    const pair = makeKey();
    const person = await playerAtAccount(fixture());
    await person.sees(sshKeys.about);
    await person.press("button", sshKeys.add);
    await person.press("button", sshKeys.addAction);
    await person.sees(sshKeys.publicKeyMissing);
    await person.fill(sshKeys.publicKey, pair.privateKey);
    await person.sees(sshKeys.isPrivate);
    await inspect(person, "account-new-ssh-key");
    await person.fill(sshKeys.publicKey, pair.line);
    await person.press("button", sshKeys.addAction);
    await person.sees(sshKeys.neverUsed);
    await inspect(person, "account-ssh-keys");
    const { body } = await person.request("GET", "/account/ssh-keys");
    const [key] = body["keys"] as { name: string; fingerprint: string }[];
    assert.equal(key?.name, "laptop");
    await person.sees(key.fingerprint);
    await person.press("button", sshKeys.removeOf(isolate("laptop")));
    await person.press("button", sshKeys.removeAction);
    await person.sees(sshKeys.about);
    await person.leave();
  });

  test("the files of a server say what to type for SFTP, where there is one", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const { internal_base_url, tokens } = stack.file();
    const announced = await send(`${internal_base_url}/api/v1/internal/sftp/endpoint`, {
      method: "PUT",
      headers: { authorization: `Bearer ${tokens.sftp}` },
      body: { host: "sftp.example.net", port: 2_222, fingerprint },
    });
    assert.equal(announced.status, 204, JSON.stringify(announced.body));
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.sees(sshKeys.sftp);
    await owner.page.evaluate(() => {
      for (const details of document.querySelectorAll("main details")) details.setAttribute("open", "");
    });
    await owner.sees("sftp -P 2222 survival@sftp.example.net");
    await owner.sees(fingerprint);
    await inspect(owner, "files-sftp");
  });
};

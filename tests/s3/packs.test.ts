// Copies in packs in a real store, from the first pass to a fetch on another machine; SVC_S3_LANE as in swift.test.ts.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { FetchedWorlds } from "../../services/ops-watchdog/src/offsite/fetch-worlds.ts";
import type { Verified } from "../../services/ops-watchdog/src/offsite/verify-copies.ts";
import {
  completedPass,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../../services/ops-watchdog/src/testing/offsite-fixture.ts";
import { packsIn } from "../../services/ops-watchdog/src/testing/packs-fixture.ts";
import { type Swift, startSwift } from "./swift.ts";

const root = process.env["SVC_S3_LANE"];

describe("Swift keeps copies in packs", { skip: root ? false : "SVC_S3_LANE is not set" }, () => {
  let swift: Swift;
  let fixture: OffsiteFixture;
  before(async () => {
    swift = await startSwift(root ?? "");
    fixture = await openOffsiteFixture();
    const { accessKey: accessKeyId, secretKey: secretAccessKey, endpoint, region } = swift;
    const client = new S3Client({
      ...{ endpoint, region, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" },
      credentials: { accessKeyId, secretAccessKey },
    });
    await client.send(new CreateBucketCommand({ Bucket: "packs" }));
    client.destroy();
  });
  after(async () => {
    await fixture?.stop();
    await swift?.stop();
  });

  function addHost(name: string) {
    const { endpoint, region } = swift;
    const about = { endpoint, region, bucket: "packs", packs: true };
    const set = Object.entries(about).map(([setting, value]) => `offsite.${setting}=${value}`);
    return fixture.addHost(name, set, swift);
  }

  test("a pass stores them, later ones find them whole, and another machine fetches them", async () => {
    const packs = packsIn(fixture);
    const host = addHost("one");
    await host.run({ do: "back-up", label: "daily" });
    await packs.addDays();
    const first = await completedPass(host);
    assert.equal(first.kinds?.find(({ kind }) => kind === "worlds")?.packed?.copies, 2);
    assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
    // It reads the manifests back, and writes the list; the next one relies on that.
    await completedPass(host);
    assert.equal((await completedPass(host)).sent, 0);
    const { damaged } = await host.run<Verified>({ do: "offsite-verify" });
    assert.deepEqual(damaged, []);
    packs.loseArchives();
    const { fetched, failures } = await addHost("two").run<FetchedWorlds>({ do: "offsite-fetch-worlds" });
    assert.deepEqual([fetched, failures], [2, []]);
    packs.assertWhole(["bk-1", "bk-2"]);
  });
});

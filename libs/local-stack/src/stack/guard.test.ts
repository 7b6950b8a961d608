import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainDiskFault } from "../error.ts";
import { scratchDir } from "../testing/scratch.ts";
import { checkPlatform, chooseServices, prepareDataDir } from "./guard.ts";

test("machines other than Linux are sent to compose.yaml", () => {
  checkPlatform("linux", "x64");
  assert.throws(
    () => checkPlatform("darwin", "arm64"),
    /this is darwin on arm64; use compose\.yaml instead$/,
  );
});

test("a data folder that cannot be used is told in one sentence", () => {
  using scratch = scratchDir();
  const file = join(scratch.path, "file");
  writeFileSync(file, "");
  assert.throws(
    () => prepareDataDir(join(file, "data")),
    /is a file, not a folder; choose another folder with --data/,
  );
  assert.throws(
    () => prepareDataDir(file),
    /file is a file, not a folder; choose another folder with --data/,
  );
  assert.throws(() => prepareDataDir("/proc/svc-data"), /can't create a folder in \/proc; choose another/);
  if (process.getuid?.() !== 0) {
    const closed = join(scratch.path, "closed");
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    assert.throws(() => prepareDataDir(join(closed, "data")), /is not writable for this user/);
  }
});

test("a full disk is told in one sentence, other faults stay what they are", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  assert.match(
    String(explainDiskFault(full, "/data")),
    /^StackError: the disk that holds \/data is full; free some space/,
  );
  const other = new Error("other");
  assert.equal(explainDiskFault(other, "/data"), other);
});

test("--only and --replicas choose the processes, and unknown names are refused with the known ones", () => {
  assert.equal(chooseServices({}).size, 11);
  const chosen = chooseServices({ only: ["storage", "identity"], replicas: { storage: 2 } });
  assert.deepEqual(
    [...chosen],
    [
      ["identity", 1],
      ["storage", 2],
    ],
  );
  assert.throws(
    () => chooseServices({ only: ["store"] }),
    /--only names store, which is not a service; the services are identity, /,
  );
  assert.throws(
    () => chooseServices({ replicas: { storage: 0 } }),
    /--replicas storage=0: give a whole number from 1 to 16/,
  );
  assert.equal(chooseServices({ replicas: { proxy: 2 } }).get("proxy"), 2);
  assert.throws(
    () => chooseServices({ replicas: { lobby: 2 } }),
    /--replicas lobby=2: the proxy uses only one lobby/,
  );
  assert.deepEqual(
    [{}, { sftp: true }, { only: ["sftp"] }, { only: ["storage"], sftp: true }].map((options) =>
      chooseServices(options).get("sftp"),
    ),
    [undefined, 1, 1, 1],
  );
  assert.throws(() => chooseServices({ replicas: { sftp: 2 } }), /sftp=2: --sftp starts only one sftp/);
  assert.equal(chooseServices({ replicas: { nats: 3 } }).size, 11);
  assert.throws(
    () => chooseServices({ replicas: { nats: 2 } }),
    /nats=2: NATS runs as one server or as three/,
  );
});

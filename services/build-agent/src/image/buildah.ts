import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import type { Settings } from "../config.ts";
import { runLogged } from "../run-logged.ts";
import type { StepContext } from "../step.ts";
import { withinDisk } from "./disk.ts";

/** RUN lines execute as this container's user in a chroot, without a credential of ours. */
export async function buildWithBuildah(
  settings: Settings,
  context: StepContext,
  command: string,
): Promise<undefined> {
  const { folder, task } = settings;
  const [source, tmp] = [folder("context"), folder("tmp")];
  const work = join(tmp, "buildah");
  const archive = join(folder("image"), buildJobs.buildFiles.imageTar);
  await rm(archive, { force: true });
  await mkdir(work, { recursive: true });
  const storage = [`--root=${join(work, "root")}`, `--runroot=${join(work, "run")}`, "--storage-driver=vfs"];
  const verify = `--tls-verify=${!task.registry.plain_http}`;
  const bud = ["--isolation=chroot", "--layers=false", "--timestamp=0", "--format=oci", verify];
  // What buildah keeps beside its storage stays in the folder too; nothing else of our environment reaches a RUN line.
  const env = { PATH: settings.env["PATH"] ?? "", HOME: work, TMPDIR: work, XDG_RUNTIME_DIR: work };
  const run = (args: string[]) =>
    withinDisk(work, context, (guarded) =>
      runLogged({ command, args: [...storage, ...args], env, cwd: work }, guarded),
    );
  await run(["bud", ...bud, "--file", join(source, "Dockerfile"), "--tag", "svc-build", source]);
  await run(["push", "svc-build", `oci-archive:${archive}:latest`]);
  return undefined;
}

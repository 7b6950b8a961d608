import type { Mesh } from "@svc/mesh";
import { offsiteBuilds, submissions } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import { createSemaphore } from "@svc/service/semaphore";
import type { Logger, Registry } from "@svc/telemetry";
import type { Settings } from "../config.ts";
import { openContextStore } from "../context/open.ts";
import type { BuildsDb, BuildsTrx } from "../database.ts";
import { logFailure } from "../log-failure.ts";
import { listContextEntries, readContextFile } from "./browse.ts";
import { completeContextUpload, uploadContext } from "./complete.ts";
import { create } from "./create.ts";
import type { SubmissionDeps } from "./deps.ts";
import { downloadContext, fetchContext } from "./download.ts";
import { list, listOwn, read, readOwn } from "./list.ts";
import { createSubmissionMetrics } from "./metrics.ts";
import { queueEndedBuilds, sendNotices } from "./notice.ts";
import { listContexts, readContext, writeContext } from "./offsite-contexts.ts";
import { putContextPart } from "./put-part.ts";
import { readOwnPack, readPack } from "./read-pack.ts";
import { readContextUpload, readLimits } from "./read-upload.ts";
import { remove, withdraw } from "./remove.ts";
import { followAccounts } from "./retire.ts";
import { approve, reject } from "./review.ts";
import { sweepContexts } from "./sweep.ts";

type Start = {
  db: BuildsDb;
  mesh: Pick<Mesh, "serve" | "call" | "consume" | "byteTransfers">;
  settings: Settings;
  log: Logger;
  registry: Registry;
  env?: NodeJS.ProcessEnv | undefined;
};

type Submissions = {
  /** Queues the mail about a build that ended in this transaction. */
  onBuildEnded: (trx: BuildsTrx) => Promise<void>;
  close: () => Promise<void>;
};

/** Answers the operations of submissions, sends mails to authors and sweeps contexts. */
export async function startSubmissions(about: Start): Promise<Submissions> {
  const { db, mesh, settings, log, registry } = about;
  const contexts = await openContextStore(settings, about.env);
  const { byteTransfers } = mesh;
  const slots = createSemaphore(settings.builds.context_checks);
  const metrics = createSubmissionMetrics(registry);
  const { notice_interval, sweep_interval } = settings.builds;
  const notices = startLoop((signal) => sendNotices({ db, mesh, log }, signal), {
    everyMs: notice_interval,
    onError: logFailure(log, "notices of submissions"),
  });
  const deps = { db, settings, contexts, byteTransfers, log, metrics, onNotice: notices.ring, slots };
  serve(mesh, deps);
  await followAccounts(mesh, deps);
  const sweeping = startLoop(() => sweepContexts(deps), {
    everyMs: sweep_interval,
    onError: logFailure(log, "sweep of contexts"),
  });
  const counting = startLoop(() => metrics.count(db), {
    everyMs: notice_interval,
    onError: logFailure(log, "count of submissions"),
  });
  return {
    onBuildEnded: queueEndedBuilds,
    close: async () => {
      await Promise.all([notices.close(), sweeping.close(), counting.close()]);
      contexts.close();
    },
  };
}

function serve(mesh: Pick<Mesh, "serve">, deps: SubmissionDeps): void {
  mesh.serve(submissions.create, create(deps));
  mesh.serve(submissions.listOwn, listOwn(deps));
  mesh.serve(submissions.readOwn, readOwn(deps));
  mesh.serve(submissions.readLimits, readLimits(deps));
  mesh.serve(submissions.uploadContext, uploadContext(deps));
  mesh.serve(submissions.readContextUpload, readContextUpload(deps));
  mesh.serve(submissions.putContextPart, putContextPart(deps));
  mesh.serve(submissions.completeContextUpload, completeContextUpload(deps));
  mesh.serve(submissions.withdraw, withdraw(deps));
  mesh.serve(submissions.list, list(deps));
  mesh.serve(submissions.read, read(deps));
  mesh.serve(submissions.approve, approve(deps));
  mesh.serve(submissions.reject, reject(deps));
  mesh.serve(submissions.remove, remove(deps));
  mesh.serve(submissions.downloadContext, downloadContext(deps));
  mesh.serve(submissions.fetchContext, fetchContext(deps));
  mesh.serve(submissions.listContextEntries, listContextEntries(deps));
  mesh.serve(submissions.readPack, readPack(deps));
  mesh.serve(submissions.readOwnPack, readOwnPack(deps));
  mesh.serve(submissions.readContextFile, readContextFile(deps));
  mesh.serve(offsiteBuilds.listContexts, listContexts(deps));
  mesh.serve(offsiteBuilds.readContext, readContext(deps));
  mesh.serve(offsiteBuilds.writeContext, writeContext(deps));
}

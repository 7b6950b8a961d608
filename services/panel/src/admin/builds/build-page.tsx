import { useParams } from "@tanstack/react-router";
import { poll, useAction, useOperation, useRefresh } from "../../api/query.ts";
import { Failure } from "../../ui/failure.tsx";
import { Split, Stack } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { NotFoundPage } from "../../ui/not-found-page.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import styles from "../packs.module.css";
import { BuildActs } from "./build-acts.tsx";
import { BuildFacts } from "./build-facts.tsx";
import { BuildProgress } from "./build-progress.tsx";
import { type Build, isActive, isBuildId, lookOfStatus } from "./builds-view.ts";
import { BuildLog } from "./log-card.tsx";
import { Provenance } from "./provenance.tsx";
import { Scan } from "./scan.tsx";

/** One build: how far it is, its log, and what its scan found. */
export function Page() {
  const { builds } = usePackWords();
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const {
    data: build,
    error,
    refetch,
  } = useOperation(
    "builds.readBuild",
    { id },
    { enabled: isBuildId(id), every: (known) => (known && isActive(known.status) ? poll.busy : poll.list) },
  );
  if (!isBuildId(id) || error?.code === "not_found") return <NotFoundPage title={builds.notFound} />;
  if (!build) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return <Shown key={id} build={build} />;
}

function Shown({ build }: { build: Build }) {
  const { builds } = usePackWords();
  const refresh = useRefresh();
  const cancel = useAction("builds.cancelBuild", ["builds.readBuild", "builds.listBuilds"]);
  const { id, image_ref, status, kind } = build;
  return (
    <PageFrame
      title={image_ref}
      parts={[image_ref, builds.title]}
      aside={<Status look={lookOfStatus[status]} word={builds.statuses[status]} isLive />}
      actions={<BuildActs build={build} cancel={cancel} />}
    >
      <Failure error={cancel.error} />
      <Outcome build={build} />
      <Split aside={<BuildFacts build={build} />}>
        <Stack>
          {kind === "scan" && <Scan build={build} />}
          <BuildProgress build={build} />
          <BuildLog id={id} onStep={() => refresh(["builds.readBuild", "scans.readScan"])} />
          {kind !== "scan" && <Scan build={build} />}
          <Provenance build={build} />
        </Stack>
      </Split>
    </PageFrame>
  );
}

/** How a build ended, in the words of the page and of the step that failed. */
function Outcome({ build }: { build: Build }) {
  const { builds } = usePackWords();
  const { status, error, progress } = build;
  if (build.kind === "scan" && status === "succeeded") return <Notice>{builds.scannedHelp}</Notice>;
  if (status === "succeeded") return <Notice kind="done">{builds.succeededHelp}</Notice>;
  if (status === "cancelled") return <Notice>{builds.cancelledHelp}</Notice>;
  if (status === "pending") return <Notice kind="waiting">{builds.pendingHelp}</Notice>;
  if (status !== "failed") return null;
  const failed = progress?.steps.find(({ state }) => state === "failed");
  return (
    <Notice kind="failed" isAlert>
      <strong>{failed ? builds.failedAt(builds.steps[failed.name]) : builds.failed}</strong>
      {failed && <p>{builds.stepFailures[failed.name]}</p>}
      {error !== undefined && <p className={styles.lines}>{visible(error)}</p>}
    </Notice>
  );
}

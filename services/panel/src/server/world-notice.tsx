import { useLocation } from "@tanstack/react-router";
import { poll, useOperation } from "../api/query.ts";
import { useJobs } from "../jobs/use-jobs.ts";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { useWords } from "../words/words.ts";
import { decideWorldWork, type WorldWork } from "./world-work.ts";

/** What works on the world, on all pages of its server but the one that shows the work itself. */
export function WorldNotice({ name }: { name: string }) {
  const jobs = useJobs(name);
  const { data } = useOperation("files.listOperations", { name }, { every: poll.list });
  const { pathname } = useLocation();
  const work = decideWorldWork(jobs, data?.ops ?? []);
  if (!work || pathname === `/servers/${name}/${work.page}`) return null;
  return <WorkNotice name={name} work={work} />;
}

function WorkNotice({ name, work }: { name: string; work: WorldWork }) {
  const { backups, server } = useWords();
  const { what, by, since, page } = work;
  const words = what === "upload" || what === "unzip" ? server.fileWork[what] : backups.jobs[what];
  return (
    <Notice kind="waiting" actions={<Link to={`/servers/${name}/${page}`}>{server.showWork}</Link>}>
      <strong>{words}</strong>
      <p>
        {by && <>{server.workBy[by]} </>}
        {since && <Time at={since} />} {server.worldHeld}
      </p>
    </Notice>
  );
}

import type { ReactNode } from "react";
import { clockOffsetMs } from "../api/clock.ts";
import { poll, useOperation } from "../api/query.ts";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { useNow } from "../ui/now.ts";
import { Time } from "../ui/time.tsx";
import { useWords } from "../words/words.ts";
import { CrashFacts, CrashLines } from "./crash-parts.tsx";
import { currentCrash } from "./current.ts";

const tickMs = 60_000;

type CrashNoticeProps = {
  name: string;
  phase: string;
  /** What can be done while it does not run. */
  remedy: ReactNode;
};

/** Why a server crashed lately, and what can be done; nothing otherwise. */
export function CrashNotice({ name, phase, remedy }: CrashNoticeProps) {
  const { crashes } = useWords();
  const now = useNow(tickMs) + clockOffsetMs();
  const { data } = useOperation("crashes.list", { name }, { every: poll.list });
  const crash = currentCrash(data?.crashes ?? [], phase, now);
  if (!crash) return null;
  const { title, help } = crashes.causes[crash.cause];
  return (
    <Notice
      kind={phase === "Running" ? "waiting" : "failed"}
      actions={
        <>
          {phase !== "Running" && remedy}
          <Link to={`/servers/${name}/history`}>{crashes.all}</Link>
        </>
      }
    >
      <strong>
        {crashes.crashed} {title}
      </strong>
      <p>{help}</p>
      <p>
        <Time at={crash.at} /> · <CrashFacts crash={crash} />
      </p>
      <CrashLines key={crash.id} name={name} id={crash.id} />
    </Notice>
  );
}

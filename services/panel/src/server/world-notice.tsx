import { useLocation } from "@tanstack/react-router";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { useWords } from "../words/words.ts";
import { useWorldWork, workWords } from "./held.ts";
import type { WorldWork } from "./world-work.ts";

/** What works on the world, on all pages of its server but the one that shows the work itself. */
export function WorldNotice({ name }: { name: string }) {
  const { pathname } = useLocation();
  const work = useWorldWork(name);
  if (!work || pathname === `/servers/${name}/${work.page}`) return null;
  return <WorkNotice name={name} work={work} />;
}

function WorkNotice({ name, work }: { name: string; work: WorldWork }) {
  const words = useWords();
  const { server } = words;
  const { by, since, page } = work;
  return (
    <Notice kind="waiting" actions={<Link to={`/servers/${name}/${page}`}>{server.showWork}</Link>}>
      <strong>{workWords(words, work)}</strong>
      <p>
        {by && <>{server.workBy[by]} </>}
        {since && <Time at={since} />} {server.worldHeld}
      </p>
    </Notice>
  );
}

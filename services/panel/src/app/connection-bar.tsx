import { useOnline, useServiceAway } from "../api/connection.ts";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words.ts";

/** One bar while the service cannot be reached; the data on screen stays. */
export function ConnectionBar() {
  const { shell } = useWords();
  const isOnline = useOnline();
  const isAway = useServiceAway();
  if (isOnline && !isAway) return null;
  return (
    <Notice kind="waiting" isAlert>
      {isOnline ? shell.away : shell.offline}
    </Notice>
  );
}

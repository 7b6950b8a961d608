import { useDataAge, useOnline, useServiceAway } from "../api/connection.ts";
import { useLiveState } from "../api/live-state.ts";
import { useNewBuild } from "../api/new-build.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { useWords } from "../words/words.ts";

/** One bar while the service or its live updates cannot be reached; the data on screen stays, with its age. */
export function ConnectionBar() {
  const { shell } = useWords();
  const isOnline = useOnline();
  const isAway = useServiceAway();
  const isLiveAway = useLiveState() === "away";
  if (isOnline && !isAway) return isLiveAway ? <Notice kind="waiting">{shell.liveAway}</Notice> : null;
  return (
    <Notice kind="waiting">
      <span role="alert">{isOnline ? shell.away : shell.offline}</span> <DataAge />
    </Notice>
  );
}

/** Beside the alert: readers hear that once, not every second of this. */
function DataAge() {
  const { shell } = useWords();
  const readAt = useDataAge();
  if (readAt === 0) return null;
  return <Time at={new Date(readAt).toISOString()} sentence={shell.asOf} />;
}

/** Asks to load the panel anew once the service has a newer one; what was typed stays until then. */
export function NewBuildBar() {
  const { shell } = useWords();
  if (!useNewBuild()) return null;
  return (
    <Notice actions={<Button onPress={() => location.reload()}>{shell.reload}</Button>}>
      {shell.newBuild}
    </Notice>
  );
}

import { useState } from "react";
import { useDataAge, useOnline, useServiceAway } from "../api/connection.ts";
import { useLiveState } from "../api/live-state.ts";
import { useNewBuild } from "../api/new-build.ts";
import { Button } from "../ui/button.tsx";
import { Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { forgetTypedText, hasTypedText } from "../ui/typed-text.ts";
import { useFirstWords } from "../words/words.ts";

/** One bar while the service or its live updates cannot be reached; the data on screen stays, with its age. */
export function ConnectionBar() {
  const { shell } = useFirstWords();
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
  const { shell } = useFirstWords();
  const readAt = useDataAge();
  if (readAt === 0) return null;
  return <Time at={new Date(readAt).toISOString()} sentence={shell.asOf} />;
}

/** Asks to load the panel anew once the service has a newer one, and again where that would cost what was typed. */
export function NewBuildBar() {
  const { shell } = useFirstWords();
  const [isAsking, setAsking] = useState(false);
  if (!useNewBuild()) return null;
  const reload = () => {
    if (!isAsking && hasTypedText()) return setAsking(true);
    forgetTypedText();
    location.reload();
  };
  return (
    <Notice
      {...(isAsking && { kind: "waiting", isAlert: true })}
      actions={
        <Row>
          {isAsking && <Button onPress={() => setAsking(false)}>{shell.cancel}</Button>}
          <Button onPress={reload}>{isAsking ? shell.reloadAnyway : shell.reload}</Button>
        </Row>
      }
    >
      {isAsking ? shell.reloadLoses : shell.newBuild}
    </Notice>
  );
}

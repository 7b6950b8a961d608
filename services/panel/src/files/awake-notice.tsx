import type { ServerStatus } from "../server/use-server.ts";
import { isFull } from "../server/use-server.ts";
import { WakeOrStop } from "../server/wake-stop.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words.ts";

/** Why files are out of reach while the server is awake, and the way there. */
export function AwakeNotice({ status }: { status: ServerStatus }) {
  const { files } = useWords();
  const full = isFull(status) ? status : undefined;
  const target = { ...status, gaveUp: full?.startGaveUp ?? false, retiring: full?.retiring };
  const canStop = status.phase === "Running" || status.phase === "Starting";
  return (
    <Notice kind="waiting" actions={canStop && <WakeOrStop server={target} />}>
      {files.awake} {files.awakeNext}
    </Notice>
  );
}

import { useAccess } from "../access/use-access.ts";
import { canBeStopped } from "../server/row.ts";
import type { ServerStatus } from "../server/use-server.ts";
import { isFull } from "../server/use-server.ts";
import { Stop, WakeOrStop } from "../server/wake-stop.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words.ts";

/** Why files are out of reach while the server is awake, and the way there. */
export function AwakeNotice({ status }: { status: ServerStatus }) {
  const { files } = useWords();
  const mayStop = useAccess().may("power");
  const full = isFull(status) ? status : undefined;
  const target = { ...status, gaveUp: full?.startGaveUp ?? false, retiring: full?.retiring };
  // Trying a failed start again leads away from its files.
  const stop = status.phase === "Failed" ? <Stop server={target} /> : <WakeOrStop server={target} />;
  return (
    <Notice kind="waiting" actions={mayStop && canBeStopped(target) && stop}>
      {files.awake} {files.awakeNext}
    </Notice>
  );
}

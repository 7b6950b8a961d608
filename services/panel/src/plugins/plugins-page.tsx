import { AwakeNotice } from "../files/awake-notice.tsx";
import { isAtRest } from "../server/row.ts";
import { ServerFrame } from "../server/server-frame.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { useWords } from "../words/words.ts";
import { Plugins } from "./plugins.tsx";

/** Plugins and mods of a server. */
export function Page() {
  const { server } = useWords();
  return (
    <ServerFrame section={server.plugins} needs={["files.read"]}>
      {({ name, status, isManaged }) => {
        if (!isManaged) return <NotFoundPage title={server.plugins} />;
        return isAtRest(status.phase) ? <Plugins key={name} name={name} /> : <AwakeNotice status={status} />;
      }}
    </ServerFrame>
  );
}

import { useAccess } from "../access/use-access.ts";
import { useMe } from "../api/session.ts";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { isFull } from "../server/use-server.ts";
import { Stack } from "../ui/layout.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { useWords } from "../words/words.ts";
import { CloneServer } from "./clone-server.tsx";
import { General } from "./general.tsx";
import { GiveUp } from "./give-up.tsx";
import { Hardware } from "./hardware.tsx";
import { ImageChange } from "./image-change.tsx";
import { RestartPolicy } from "./restart-policy.tsx";
import { StatusPageSettings } from "./status-page.tsx";
import { TagSettings } from "./tag-settings.tsx";
import { WorldMove } from "./world-move.tsx";

/** The settings of a server: its owner's, and those that only staff change. */
export function Page() {
  const { settings } = useWords();
  return (
    <ServerFrame section={settings.title} needs={["settings"]}>
      {(server) =>
        server.isManaged ? (
          <Settings key={server.name} {...server} />
        ) : (
          <NotFoundPage title={settings.title} />
        )
      }
    </ServerFrame>
  );
}

function Settings({ name, status }: ServerInFrame) {
  const isStaff = useMe().data?.is_admin ?? false;
  const isMember = useAccess().as === "member";
  if (!isFull(status)) return null;
  return (
    <Stack>
      <General name={name} status={status} isStaff={isStaff} />
      <RestartPolicy name={name} />
      <TagSettings name={name} status={status} />
      {!isMember && <StatusPageSettings name={name} />}
      {isStaff && (
        <>
          <Hardware name={name} status={status} />
          <ImageChange name={name} status={status} />
          <WorldMove name={name} status={status} />
          <CloneServer name={name} />
        </>
      )}
      {!status.retiring && !isMember && <GiveUp name={name} isStaff={isStaff} />}
    </Stack>
  );
}

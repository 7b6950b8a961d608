import { ServerFrame } from "../server/server-frame.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { useWords } from "../words/words.ts";
import { Webhooks } from "./webhooks.tsx";

/** What is told to others about a server. */
export function Page() {
  const { server: words } = useWords();
  return (
    <ServerFrame section={words.webhooks} needs={["settings"]}>
      {({ name, isManaged }) =>
        isManaged ? <Webhooks key={name} place={{ name }} /> : <NotFoundPage title={words.webhooks} />
      }
    </ServerFrame>
  );
}

import { Page as PageFrame } from "../../ui/page.tsx";
import { Webhooks } from "../../webhooks/webhooks.tsx";
import { useWords } from "../../words/words.ts";

/** What is told to others about all servers and the platform. */
export function Page() {
  const { shell } = useWords();
  return (
    <PageFrame title={shell.webhooks}>
      <Webhooks place="platform" />
    </PageFrame>
  );
}

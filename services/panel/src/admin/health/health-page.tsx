import { Page as PageFrame } from "../../ui/page.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { Alerts } from "./alerts.tsx";
import { Offsite } from "./offsite.tsx";

/** How the platform itself is: what is wrong, and whether losing the machine would cost anything. */
export function Page() {
  const { platformHealth } = useHealthWords();
  return (
    <PageFrame title={platformHealth.title}>
      <Alerts />
      <Offsite />
    </PageFrame>
  );
}

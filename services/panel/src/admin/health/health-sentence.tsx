import { Status } from "../../ui/status.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import { healthSentence, lookOfHealth, type PlatformHealth } from "./alert-view.ts";

/** How the platform is: a word and a sentence. */
export function HealthSentence({ health }: { health: PlatformHealth }) {
  const words = useHealthWords();
  const { language } = useLanguage();
  return (
    <span role="status">
      <Status look={lookOfHealth[health.state]} word={words.alerts.states[health.state]} />{" "}
      {visible(healthSentence(health, words, language))}
    </span>
  );
}

import { formatDate, formatTime } from "../words/format.ts";
import { useLanguage } from "../words/words.ts";
import { useNow } from "./now.ts";

const stepMs = 30_000;

/** When something happened or will: relative up to a day, the whole date on hover. */
export function Time({ at }: { at: string }) {
  const { language } = useLanguage();
  const now = useNow(stepMs);
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={formatDate(time, language)}>
      {formatTime(time, now, language)}
    </time>
  );
}

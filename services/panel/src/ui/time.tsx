import { useEffect, useState } from "react";
import { formatDate, formatTime, timeHoldsMs } from "../words/format.ts";
import { useLanguage } from "../words/words.ts";

/** Longer ones overflow a timer. */
const longestMs = 86_400_000;

/** When something happened or will: relative up to a day, the whole date on hover. */
export function Time({ at }: { at: string }) {
  const { language } = useLanguage();
  const time = Date.parse(at);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const holdsMs = timeHoldsMs(time, now);
    if (holdsMs === Infinity) return;
    const passedMs = Date.now() - now;
    const timer = setTimeout(() => setNow(Date.now()), Math.min(holdsMs - passedMs, longestMs) + 1);
    return () => clearTimeout(timer);
  }, [time, now]);
  return (
    <time dateTime={at} title={formatDate(time, language)}>
      {formatTime(time, now, language)}
    </time>
  );
}

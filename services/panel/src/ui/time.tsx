import { useEffect, useState } from "react";
import { formatDate, formatTime } from "../words/format.ts";
import { useLanguage } from "../words/words.ts";

const stepMs = 30_000;

/** When something happened or will: relative up to a day, the whole date on hover. */
export function Time({ at }: { at: string }) {
  const { language } = useLanguage();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, []);
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={formatDate(time, language)}>
      {formatTime(time, now, language)}
    </time>
  );
}

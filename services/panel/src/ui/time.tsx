import { useEffect, useState } from "react";
import { formatDate, formatTime, timeHoldsMs } from "../words/format.ts";
import { useLanguage } from "../words/words.ts";

/** Longer ones overflow a timer. */
const longestMs = 86_400_000;

type TimeProps = {
  at: string;
  /** Stands inside something that has the focus itself and says the whole date when it is opened. */
  isInside?: boolean;
  /** The sentence that the time is part of. */
  sentence?: (time: string) => string;
};

const asItIs = (time: string) => time;

/** When something happened or will: relative up to a day; the whole date on hover, focus and touch. */
export function Time({ at, isInside = false, sentence = asItIs }: TimeProps) {
  const { language } = useLanguage();
  const [isExact, setExact] = useState(false);
  const time = Date.parse(at);
  const now = useNowOf(time);
  const exact = formatDate(time, language);
  const text = formatTime(time, now, language);
  const isStop = !isInside && text !== exact;
  return (
    <time
      dateTime={at}
      title={exact}
      {...(isStop && { tabIndex: 0, onFocus: () => setExact(true), onBlur: () => setExact(false) })}
    >
      {sentence(isExact ? exact : text)}
    </time>
  );
}

/** The time of now, read again when the words for its distance to another one change. */
function useNowOf(time: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const holdsMs = timeHoldsMs(time, now);
    if (holdsMs === Infinity) return;
    const passedMs = Date.now() - now;
    const timer = setTimeout(() => setNow(Date.now()), Math.min(holdsMs - passedMs, longestMs) + 1);
    return () => clearTimeout(timer);
  }, [time, now]);
  return now;
}

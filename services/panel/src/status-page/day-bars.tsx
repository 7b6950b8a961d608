import { Disclosure } from "../ui/disclosure.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import type { StatusWords } from "../words/en/status.ts";
import { useStatusWords } from "../words/status-words.ts";
import styles from "./days.module.css";
import { type Bar, barsOf, percentOf, type StatusPage, shareOf } from "./days.ts";

function wordsOf(words: StatusWords, { day, look, minutes }: Bar): string {
  if (look === "none") return words.dayNotKnown(day);
  if (look === "fine") return words.dayFine(day);
  return look === "planned" ? words.dayPlanned(day, minutes) : words.dayDown(day, minutes);
}

/** How it was on each day; the days with trouble in words as well. */
export function DayBars({ page }: { page: StatusPage }) {
  const words = useStatusWords();
  const share = shareOf(page.days);
  if (share === undefined) return null;
  const bars = barsOf(page);
  const troubles = bars.filter(({ look }) => look === "some" || look === "down" || look === "planned");
  const sentence = words.share(percentOf(share));
  return (
    <Card title={words.days}>
      <div className={styles.bars} role="img" aria-label={sentence}>
        {bars.map((bar) => (
          <span key={bar.day} className={styles[bar.look]} title={wordsOf(words, bar)} />
        ))}
      </div>
      <p>{sentence}</p>
      {troubles.length > 0 && (
        <Disclosure summary={words.troubles}>
          <ul>
            {troubles.toReversed().map((bar) => (
              <li key={bar.day}>{wordsOf(words, bar)}</li>
            ))}
          </ul>
        </Disclosure>
      )}
      <Muted>{words.dayHelp}</Muted>
    </Card>
  );
}

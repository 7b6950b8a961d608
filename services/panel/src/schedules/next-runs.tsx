import { Fragment, useMemo } from "react";
import { Muted } from "../ui/layout.tsx";
import { clockOf, type Moment, ownZone } from "../words/local-time.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { formatRun } from "./schedule-words.ts";
import styles from "./schedules.module.css";
import { runsAfter, type Timetable } from "./timetable.ts";

const shownRuns = 5;

/** When a schedule runs next, in its zone and in the reader's, with what clock changes do to it. */
export function NextRuns({ timetable }: { timetable: Timetable | undefined }) {
  const { schedules } = useWords();
  const { language } = useLanguage();
  const key = JSON.stringify(timetable);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what the timetable says
  const runs = useMemo(() => (timetable ? runsAfter(timetable, Date.now(), shownRuns) : []), [key]);
  const own = ownZone();
  const zone = timetable?.timezone ?? own;
  const zones =
    zone === own
      ? [[zone, zone]]
      : ([
          [zone, zone],
          [own, `${schedules.zoneYours} (${own})`],
        ] as const);
  return (
    <section className={styles.runs}>
      <h3>{schedules.runs}</h3>
      {runs.length === 0 ? (
        <Muted>{schedules.runsMissing}</Muted>
      ) : (
        <table>
          <thead>
            <tr>
              {zones.map(([id, word]) => (
                <th key={id} scope="col">
                  {word}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <Fragment key={run.at}>
                <tr>
                  {zones.map(([id = own]) => (
                    <td key={id}>
                      <time dateTime={new Date(run.at).toISOString()}>{formatRun(run.at, id, language)}</time>
                    </td>
                  ))}
                </tr>
                {run.change && (
                  <tr>
                    <td className={styles.change} colSpan={zones.length}>
                      <ChangeWords change={run.change} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function ChangeWords({ change }: { change: NonNullable<Moment["change"]> }) {
  const { schedules } = useWords();
  return change.kind === "doubled"
    ? schedules.doubled(clockOf(change.wanted))
    : schedules.skipped(clockOf(change.wanted), clockOf(change.shown));
}

import { Time } from "../ui/time.tsx";
import { offsetAt, ownZone } from "../words/local-time.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { endingWords, formatRun, reasonWords, stepsOf, stepWords, whenWords } from "./schedule-words.ts";
import styles from "./schedules.module.css";
import type { Schedule } from "./timetable.ts";

/** When it runs, what it does, and how the last run went. */
export function ScheduleDetails({ schedule }: { schedule: Schedule }) {
  const words = useWords();
  const { language } = useLanguage();
  const { schedules } = words;
  const { label, action, command, warn_minutes: warn, run_state, only_if } = schedule;
  const isChain = schedule.next_steps !== undefined;
  const when = whenWords(words, schedule, language);
  return (
    <>
      {label !== "" && !isChain && <div>{schedules.actions[action]}</div>}
      {action === "command" && !isChain && (
        <div className={styles.command}>
          <bdi>{visible(command)}</bdi>
        </div>
      )}
      {only_if && !isChain && <div>{schedules.conditions[only_if]}</div>}
      {isChain && <Steps schedule={schedule} />}
      <div>{warn === 0 ? when : `${when}${schedules.comma}${schedules.warns(warn)}`}</div>
      {run_state === "" ? (
        <NextRun schedule={schedule} />
      ) : (
        <div className={styles.warning} role="status">
          {schedules.states[schedule.waits_until === undefined ? run_state : "waiting"]}
          {schedule.waits_until !== undefined && (
            <>
              {" "}
              <Time at={schedule.waits_until} sentence={schedules.waitsUntil} />
            </>
          )}
        </div>
      )}
      {run_state === "" && <LastRun schedule={schedule} />}
    </>
  );
}

function NextRun({ schedule: { next_run_at, timezone } }: { schedule: Schedule }) {
  const { schedules } = useWords();
  const { language } = useLanguage();
  if (next_run_at === null) return <div>{schedules.off}</div>;
  const at = Date.parse(next_run_at);
  const own = ownZone();
  const isSame = offsetAt(own, at) === offsetAt(timezone, at);
  return (
    <div>
      {schedules.next}{" "}
      <time dateTime={next_run_at}>
        {formatRun(at, timezone, language)}
        {!isSame && ` (${schedules.forYou(formatRun(at, own, language))})`}
      </time>
    </div>
  );
}

/** What a chain does, and how each step of its last run ended. */
function Steps({ schedule }: { schedule: Schedule }) {
  const words = useWords();
  const { schedules } = words;
  const steps = stepsOf(schedule).map((step, at) => ({ step, ending: schedule.step_endings?.[at], at }));
  return (
    <ol className={styles.steps} aria-label={schedules.steps}>
      {steps.map(({ step, ending, at }) => {
        const reason = ending ? endingWords(words, step.action, ending) : "";
        return (
          <li key={at}>
            <bdi>{stepWords(words, step)}</bdi>
            {ending && (
              <>
                {" · "}
                <span className={looks[ending.result]}>{schedules.results[ending.result]}</span>
              </>
            )}
            {reason !== "" && (
              <>
                {" · "}
                <bdi>{reason}</bdi>
              </>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const looks = { ok: styles.good, skipped: styles.warning, failed: styles.bad, missed: styles.bad };

function LastRun({ schedule }: { schedule: Schedule }) {
  const words = useWords();
  const { schedules } = words;
  const { last_run_at, last_result } = schedule;
  if (last_result === "") return null;
  // The steps say their own.
  const reason = schedule.step_endings ? "" : reasonWords(words, schedule);
  return (
    <div>
      {schedules.last} {last_run_at !== null && <Time at={last_run_at} />}
      {" · "}
      <span className={looks[last_result]}>{schedules.results[last_result]}</span>
      {reason !== "" && (
        <>
          {" · "}
          <bdi>{reason}</bdi>
        </>
      )}
    </div>
  );
}

import { Time } from "../ui/time.tsx";
import { offsetAt, ownZone } from "../words/local-time.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import {
  endingWords,
  formatRun,
  happenedWords,
  reasonWords,
  stepsOf,
  stepWords,
  triggerWords,
  whenWords,
} from "./schedule-words.ts";
import styles from "./schedules.module.css";
import type { Schedule } from "./timetable.ts";

/** When it runs, what it does, and how the last run went. */
export function ScheduleDetails({ schedule }: { schedule: Schedule }) {
  const words = useWords();
  const { language } = useLanguage();
  const { schedules } = words;
  const { label, action, command, warn_minutes: warn, run_state, only_if } = schedule;
  const isChain = schedule.next_steps !== undefined;
  const { trigger } = schedule;
  const when = trigger ? triggerWords(words, { ...schedule, trigger }) : whenWords(words, schedule, language);
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
      {schedule.trigger_events && <Events events={schedule.trigger_events} />}
    </>
  );
}

function NextRun({ schedule: { next_run_at, timezone, trigger, enabled } }: { schedule: Schedule }) {
  const { schedules } = useWords();
  const { language } = useLanguage();
  if (trigger && enabled) return null;
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

/** What it waits for, as often as it happened lately, and what became of it. */
function Events({ events }: { events: NonNullable<Schedule["trigger_events"]> }) {
  const words = useWords();
  const { schedules } = words;
  return (
    <ul className={styles.steps} aria-label={schedules.lately}>
      {events.map((event) => (
        <li key={`${event.trigger} ${event.at}`}>
          <Time at={event.at} /> · <bdi>{happenedWords(words, event)}</bdi> ·{" "}
          <span className={eventLooks[event.outcome]}>{schedules.outcomes[event.outcome]}</span>
          {event.due_at !== undefined && (
            <>
              {schedules.comma}
              <Time at={event.due_at} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

const eventLooks = {
  ...{ waiting: styles.warning, ran: styles.good, missed: styles.bad },
  ...{ cancelled: undefined, paused: undefined, caused_by_itself: styles.warning },
};

const looks = { ok: styles.good, skipped: styles.warning, failed: styles.bad, missed: styles.bad };

function LastRun({ schedule }: { schedule: Schedule }) {
  const words = useWords();
  const { schedules } = words;
  const { last_run_at, last_result, last_trigger } = schedule;
  if (last_result === "") return null;
  // The steps say their own.
  const reason = schedule.step_endings ? "" : reasonWords(words, schedule);
  return (
    <div>
      {schedules.last} {last_run_at !== null && <Time at={last_run_at} />}
      {" · "}
      <span className={looks[last_result]}>{schedules.results[last_result]}</span>
      {last_trigger && (
        <>
          {" · "}
          <bdi>{schedules.ranFor(happenedWords(words, last_trigger))}</bdi>
        </>
      )}
      {reason !== "" && (
        <>
          {" · "}
          <bdi>{reason}</bdi>
        </>
      )}
    </div>
  );
}

import { Button } from "../ui/button.tsx";
import { Choices } from "../ui/choices.tsx";
import { Field } from "../ui/field.tsx";
import { Row } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { ownZone } from "../words/local-time.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { actions, type Draft, intervalsOf, mayWarn, type Problem, paceOf, warnings } from "./draft.ts";
import { weekdayName, weekOrder } from "./schedule-words.ts";

export type StepProps = {
  draft: Draft;
  change: (change: Partial<Draft>) => void;
  /** What is shown as wrong; nothing before the first try to save. */
  problems: ReadonlySet<Problem>;
};

/** What is done, and how it is called. */
export function ActionStep({ draft, change, problems }: StepProps) {
  const { schedules } = useWords();
  const { action, command, label } = draft;
  return (
    <>
      <Select
        label={schedules.what}
        description={schedules.actionsHelp[action]}
        value={action}
        onChange={(next) => change({ action: next })}
        options={actions.map((name) => [name, schedules.actions[name]])}
      />
      {action === "command" && (
        <Field
          label={schedules.command}
          name="command"
          value={command}
          onChange={(next) => change({ command: next })}
          description={schedules.commandHelp}
          error={problems.has("command") ? schedules.commandProblem : undefined}
        />
      )}
      <Field
        label={schedules.label}
        name="label"
        value={label}
        onChange={(next) => change({ label: next })}
        error={problems.has("label") ? schedules.labelProblem : undefined}
      />
    </>
  );
}

/** How often, at what time and on which days, by the clock of which zone. */
export function TimeStep({ draft, change, problems }: StepProps) {
  const { schedules } = useWords();
  const { language } = useLanguage();
  const { every, time, weekdays } = draft;
  const offered = intervalsOf(paceOf(draft));
  // An interval that another action may have stays visible until somebody chooses.
  const shown = offered.includes(every) ? offered : [...offered, every];
  return (
    <>
      <Row isLow>
        <Select
          label={schedules.often}
          value={String(every)}
          onChange={(next) => change({ every: Number(next) })}
          options={shown.map((one) => [String(one), one === 0 ? schedules.onceDaily : schedules.every(one)])}
          error={problems.has("interval") ? schedules.intervalProblem : undefined}
        />
        {every === 0 && (
          <Field
            label={schedules.time}
            name="time"
            type="time"
            value={time}
            onChange={(next) => change({ time: next })}
            error={problems.has("time") ? schedules.timeProblem : undefined}
          />
        )}
      </Row>
      <Choices
        label={schedules.days}
        options={weekOrder.map((day) => [day, weekdayName(day, language)])}
        isChosen={(day) => (weekdays & (1 << day)) !== 0}
        onChange={(day, isOn) => change({ weekdays: isOn ? weekdays | (1 << day) : weekdays & ~(1 << day) })}
        error={problems.has("days") ? schedules.daysProblem : undefined}
      />
      <ZoneField draft={draft} change={change} problems={problems} />
    </>
  );
}

function ZoneField({ draft: { timezone }, change, problems }: StepProps) {
  const { schedules } = useWords();
  const own = ownZone();
  return (
    <>
      <Field
        label={schedules.zone}
        name="timezone"
        value={timezone}
        onChange={(next) => change({ timezone: next })}
        suggestions={["UTC", ...Intl.supportedValuesOf("timeZone")]}
        description={schedules.zoneHelp}
        error={problems.has("zone") ? schedules.zoneProblem : undefined}
      />
      {timezone !== own && (
        <div>
          <Button onPress={() => change({ timezone: own })}>{schedules.takeOwnZone(own)}</Button>
        </div>
      )}
    </>
  );
}

/** How long before it players are warned. */
export function WarningStep({ draft, change }: StepProps) {
  const { schedules } = useWords();
  const { warn } = draft;
  if (!mayWarn(draft)) return null;
  return (
    <Select
      label={schedules.warning}
      description={schedules.warningHelp}
      value={String(warn)}
      onChange={(next) => change({ warn: Number(next) })}
      options={warnings.map((minutes) => [String(minutes), schedules.warnings(minutes)])}
    />
  );
}

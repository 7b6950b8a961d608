import { Field } from "../ui/field.tsx";
import { Row } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useWords } from "../words/words.ts";
import { mostMinutes, triggers } from "./draft.ts";
import type { StepProps } from "./editor-fields.tsx";

/** By the clock, or when something happens. */
export function WhenStep({ draft: { trigger }, change }: StepProps) {
  const { schedules } = useWords();
  return (
    <Select
      label={schedules.when}
      value={trigger === "none" ? "clock" : "trigger"}
      onChange={(next) => change({ trigger: next === "clock" ? "none" : "server_empty" })}
      options={[
        ["clock", schedules.byClock],
        ["trigger", schedules.onTrigger],
      ]}
    />
  );
}

/** What has to happen, and how soon it counts again. */
export function TriggerStep({ draft, change, problems }: StepProps) {
  const { schedules } = useWords();
  const { trigger, emptyMinutes, pauseMinutes } = draft;
  if (trigger === "none") return null;
  return (
    <>
      <Select
        label={schedules.trigger}
        description={schedules.triggersHelp[trigger]}
        value={trigger}
        onChange={(next) => change({ trigger: next })}
        options={triggers.map((one) => [one, schedules.triggers[one]])}
      />
      <Row isLow>
        {trigger === "server_empty" && (
          <Field
            label={schedules.emptyMinutes}
            name="empty-minutes"
            inputMode="numeric"
            value={emptyMinutes}
            onChange={(next) => change({ emptyMinutes: next })}
            error={problems.has("empty") ? schedules.emptyMinutesProblem(mostMinutes) : undefined}
          />
        )}
        <Field
          label={schedules.pause}
          name="pause-minutes"
          inputMode="numeric"
          value={pauseMinutes}
          onChange={(next) => change({ pauseMinutes: next })}
          description={schedules.pauseHelp}
          error={problems.has("pause") ? schedules.pauseProblem(mostMinutes) : undefined}
        />
      </Row>
    </>
  );
}

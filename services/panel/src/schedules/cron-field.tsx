import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { clockOf } from "../words/local-time.ts";
import { useWords } from "../words/words.ts";
import { translateCron } from "./cron.ts";
import { type Draft, intervals, intervalsOf } from "./draft.ts";

type CronFieldProps = { action: Draft["action"]; onTranslate: (change: Partial<Draft>) => void };

/** Takes a pasted cron line and fills in the steps, where they can say it. */
export function CronField({ action, onTranslate }: CronFieldProps) {
  const { schedules } = useWords();
  const [line, setLine] = useState<string>();
  if (line === undefined)
    return (
      <div>
        <Button onPress={() => setLine("")}>{schedules.cron}</Button>
      </div>
    );
  const found = translateCron(line, intervals);
  const translate = (text: string) => {
    setLine(text);
    const translation = translateCron(text, intervals);
    if (translation.kind === "refused" || !intervalsOf(action).includes(translation.steps.every)) return;
    const { every, minuteOfDay, weekdays, timezone } = translation.steps;
    onTranslate({
      ...{ every, weekdays, time: every === 0 ? clockOf(minuteOfDay) : "" },
      ...(timezone !== undefined && { timezone }),
    });
  };
  const problem = () => {
    if (line.trim() === "") return undefined;
    if (found.kind === "refused") return schedules.cronProblems[found.problem];
    return intervalsOf(action).includes(found.steps.every) ? undefined : schedules.cronProblems.often;
  };
  const isDone = line.trim() !== "" && problem() === undefined;
  return (
    <Field
      autoFocus
      label={schedules.cronField}
      name="cron"
      value={line}
      onChange={translate}
      description={isDone ? schedules.cronDone : schedules.cronHelp}
      error={problem()}
    />
  );
}

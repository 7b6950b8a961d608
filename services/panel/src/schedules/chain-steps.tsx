import { Plus, Trash2 } from "lucide-react";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useWords } from "../words/words.ts";
import {
  actions,
  type Condition,
  conditions,
  type DraftStep,
  firstConditions,
  maxSteps,
  waits,
  withStep,
} from "./draft.ts";
import type { StepProps } from "./editor-fields.tsx";
import styles from "./schedules.module.css";

/** On which condition the task's own action is done, and the steps that follow it. */
export function ChainSteps({ draft, change, problems }: StepProps) {
  const { schedules } = useWords();
  const { steps } = draft;
  const isFull = steps.length + 1 >= maxSteps;
  const replace = (key: number, next: Partial<DraftStep>) =>
    change({ steps: steps.map((step) => (step.key === key ? { ...step, ...next } : step)) });
  return (
    <>
      <ConditionField
        value={draft.condition}
        offered={firstConditions}
        onChange={(condition) => change({ condition })}
      />
      {steps.map((step, at) => (
        <StepFields
          key={step.key}
          step={step}
          number={at + 2}
          isWrong={problems.has(`command-${step.key}`)}
          onChange={(next) => replace(step.key, next)}
          onRemove={() => change({ steps: steps.filter(({ key }) => key !== step.key) })}
        />
      ))}
      <div>
        <Button
          icon={<Plus size={16} aria-hidden />}
          whyNot={isFull ? schedules.stepsFull(maxSteps) : undefined}
          onPress={() => change({ steps: withStep(steps) })}
        >
          {schedules.addStep}
        </Button>
      </div>
      {steps.length > 0 && <Muted>{schedules.stepsHelp}</Muted>}
    </>
  );
}

type ConditionFieldProps = {
  value: Condition;
  offered: readonly (typeof conditions)[number][];
  onChange: (value: Condition) => void;
};

function ConditionField({ value, offered, onChange }: ConditionFieldProps) {
  const { schedules } = useWords();
  const options: readonly Condition[] = ["none", ...offered];
  return (
    <Select
      label={schedules.condition}
      value={value}
      onChange={onChange}
      options={options.map((one) => [one, schedules.conditions[one]])}
    />
  );
}

type StepFieldsProps = {
  step: DraftStep;
  number: number;
  isWrong: boolean;
  onChange: (change: Partial<DraftStep>) => void;
  onRemove: () => void;
};

function StepFields({ step, number, isWrong, onChange, onRemove }: StepFieldsProps) {
  const { schedules } = useWords();
  const { action, command, wait, condition, key } = step;
  // A wait that somebody chose elsewhere stays visible.
  const offered = (waits as readonly number[]).includes(wait) ? waits : [...waits, wait];
  return (
    <section className={styles.step} aria-label={schedules.stepNumber(number)}>
      <Row isSpread>
        <h3>{schedules.stepNumber(number)}</h3>
        <Button kind="quiet" label={schedules.removeStep(number)} onPress={onRemove}>
          <Trash2 size={16} aria-hidden />
        </Button>
      </Row>
      <Select
        label={schedules.what}
        value={action}
        onChange={(next) => onChange({ action: next })}
        options={actions.map((name) => [name, schedules.actions[name]])}
      />
      {action === "command" && (
        <Field
          label={schedules.command}
          name={`command-${key}`}
          value={command}
          onChange={(next) => onChange({ command: next })}
          description={schedules.commandHelp}
          error={isWrong ? schedules.commandProblem : undefined}
        />
      )}
      <Select
        label={schedules.wait}
        value={String(wait)}
        onChange={(next) => onChange({ wait: Number(next) })}
        options={offered.map((seconds) => [String(seconds), schedules.waits(seconds)])}
      />
      <ConditionField
        value={condition}
        offered={conditions}
        onChange={(next) => onChange({ condition: next })}
      />
    </section>
  );
}

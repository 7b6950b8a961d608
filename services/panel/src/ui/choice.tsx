import { useId } from "react";
import styles from "./choice.module.css";

type ChoiceProps<Value extends string> = {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, word: string])[];
};

/** One of a few that are all in sight, because what they mean has to be read. */
export function Choice<Value extends string>({ label, value, onChange, options }: ChoiceProps<Value>) {
  const id = useId();
  return (
    <fieldset className={styles.choice}>
      <legend>{label}</legend>
      {options.map(([option, word]) => (
        <label key={option} className={styles.option} htmlFor={`${id}-${option}`}>
          <input
            id={`${id}-${option}`}
            type="radio"
            name={id}
            value={option}
            checked={option === value}
            onChange={() => onChange(option)}
          />
          {word}
        </label>
      ))}
    </fieldset>
  );
}

import { useId } from "react";
import styles from "./choices.module.css";
import { classes } from "./css.ts";
import field from "./field.module.css";

type ChoicesProps<Value> = {
  label: string;
  options: readonly (readonly [value: Value, word: string])[];
  isChosen: (value: Value) => boolean;
  onChange: (value: Value, isChosen: boolean) => void;
  error?: string | undefined;
};

/** Any of a few, each a button that stays pressed. */
export function Choices<Value extends string | number>(props: ChoicesProps<Value>) {
  const { label, options, isChosen, onChange, error } = props;
  const id = useId();
  return (
    <fieldset className={classes(styles.choices)} {...(error !== undefined && { "aria-describedby": id })}>
      <legend className={field.label}>{label}</legend>
      <div className={styles.options}>
        {options.map(([value, word]) => (
          <label key={value} className={styles.option}>
            <input
              type="checkbox"
              checked={isChosen(value)}
              aria-invalid={error !== undefined}
              onChange={(event) => onChange(value, event.target.checked)}
            />
            {word}
          </label>
        ))}
      </div>
      {error !== undefined && (
        <div id={id} className={field.error}>
          {error}
        </div>
      )}
    </fieldset>
  );
}

import { type ChangeEvent, useId, useLayoutEffect, useRef } from "react";
import styles from "./checkbox.module.css";
import { Reason } from "./reason.tsx";

type CheckboxProps = {
  label: string;
  isChecked: boolean;
  onChange: (isChecked: boolean, event: ChangeEvent<HTMLInputElement>) => void;
  /** Some of what it stands for is chosen. */
  isPartly?: boolean;
  /** Why it cannot be changed now. */
  whyNot?: string | undefined;
  /** The label is only read aloud: what stands beside it says it already. */
  hidesLabel?: boolean;
};

/** A choice that is on or off. */
export function Checkbox(props: CheckboxProps) {
  const { label, isChecked, onChange, isPartly = false, whyNot, hidesLabel = false } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (input.current) input.current.indeterminate = isPartly;
  }, [isPartly]);
  return (
    <Reason text={whyNot} name={label}>
      <label htmlFor={id} className={styles.checkbox}>
        <input
          id={id}
          ref={input}
          type="checkbox"
          checked={isChecked}
          disabled={whyNot !== undefined}
          onChange={(event) => onChange(event.target.checked, event)}
          {...(hidesLabel && { "aria-label": label })}
        />
        {!hidesLabel && label}
      </label>
    </Reason>
  );
}

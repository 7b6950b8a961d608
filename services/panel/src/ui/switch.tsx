import { Reason } from "./reason.tsx";
import styles from "./switch.module.css";

type SwitchProps = {
  /** What is on or off, for readers: the switch stands in the row of what it is about. */
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  /** Why it cannot be changed now. */
  whyNot?: string | undefined;
};

/** Something that is on or off and changes at once. */
export function Switch({ label, isOn, onChange, whyNot }: SwitchProps) {
  return (
    <Reason text={whyNot} name={label}>
      <input
        type="checkbox"
        role="switch"
        className={styles.switch}
        aria-label={label}
        aria-checked={isOn}
        checked={isOn}
        disabled={whyNot !== undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
    </Reason>
  );
}

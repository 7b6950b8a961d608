import { useEffect, useEffectEvent, useRef, useState } from "react";
import { Field } from "./field.tsx";
import { restMs } from "./use-debounced.ts";

type SearchFieldProps = {
  label: string;
  name?: string;
  /** What is searched for, as the address has it. */
  value: string;
  /** Called once what is typed has rested: each change of the address draws every link of the page again. */
  onChange: (value: string) => void;
  maxLength: number;
};

/** The search of a page whose list the service searches. */
export function SearchField({ label, name = "search", value, onChange, maxLength }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    // Changed by something else than this field, such as going back.
    if (value !== told.current) setTyped(value);
    told.current = value;
  }, [value]);
  const tell = useEffectEvent(() => {
    told.current = typed;
    onChange(typed);
  });
  useEffect(() => {
    if (typed === told.current) return;
    const timer = setTimeout(() => tell(), restMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Field
      label={label}
      name={name}
      type="search"
      inputMode="search"
      value={typed}
      onChange={setTyped}
      maxLength={maxLength}
    />
  );
}

import { Field } from "./field.tsx";
import { useTypedSearch } from "./use-typed-search.ts";

type SearchFieldProps = {
  label: string;
  name?: string;
  /** What is searched for, as the address has it. */
  value: string;
  /** Called once what is typed has rested. */
  onChange: (value: string) => void;
  maxLength: number;
};

/** The search of a page whose list the service searches. */
export function SearchField({ label, name = "search", value, onChange, maxLength }: SearchFieldProps) {
  const [typed, setTyped] = useTypedSearch(value, onChange);
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

import type { ReactNode } from "react";
import { Field } from "../ui/field.tsx";
import { Filters } from "../ui/filters.tsx";
import { useWords } from "../words/words.ts";

/** As long as the service takes it. */
const longest = 100;

type ListSearchProps = { value: string; onChange: (search: string) => void; children: ReactNode };

/** The search of a list of servers, and beside it what else narrows and sorts it. */
export function ListSearch({ value, onChange, children }: ListSearchProps) {
  const { servers } = useWords();
  return (
    <Filters label={servers.search}>
      <Field
        label={servers.search}
        name="search"
        type="search"
        inputMode="search"
        maxLength={longest}
        value={value}
        onChange={onChange}
      />
      {children}
    </Filters>
  );
}

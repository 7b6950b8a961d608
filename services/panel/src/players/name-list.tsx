import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { Field } from "../ui/field.tsx";
import { Muted } from "../ui/layout.tsx";
import { List } from "../ui/list.tsx";
import { useWords } from "../words/words.ts";
import { searchNames } from "./player-names.ts";

/** A list this short is read faster than searched. */
const searchedFrom = 12;
/** More are found by searching. */
const shownAtOnce = 100;

type NameListProps = { label: string; names: readonly string[]; draw: (name: string) => ReactNode };

/** Players by name, with a search where there are many. */
export function NameList({ label, names, draw }: NameListProps) {
  const { players } = useWords();
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search);
  const found = useMemo(() => searchNames(names, wanted), [names, wanted]);
  if (names.length === 0) return null;
  const rest = found.length - shownAtOnce;
  return (
    <>
      {names.length >= searchedFrom && (
        <Field
          label={players.search}
          name={`search-${label}`}
          type="search"
          inputMode="search"
          value={search}
          onChange={setSearch}
        />
      )}
      {found.length === 0 && <Muted>{players.noMatch}</Muted>}
      <List label={label}>{found.slice(0, shownAtOnce).map(draw)}</List>
      {rest > 0 && <Muted>{players.more(rest)}</Muted>}
    </>
  );
}

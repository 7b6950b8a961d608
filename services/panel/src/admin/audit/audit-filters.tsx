import { Field } from "../../ui/field.tsx";
import { Filters } from "../../ui/filters.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Select } from "../../ui/select.tsx";
import { useWords } from "../../words/words.ts";
import { actionWords } from "./action-words.ts";
import { type AuditView, families } from "./audit-view.ts";

type AuditFiltersProps = { view: AuditView; show: (change: Partial<AuditView>) => void };

/** What the audit log is narrowed down to. */
export function AuditFilters({ view, show }: AuditFiltersProps) {
  const words = useWords();
  const { audit } = words;
  const known = families.map((family) => [`${family}.*`, audit.families[family]] as const);
  const isKnown = view.action === "" || known.some(([action]) => action === view.action);
  return (
    <Filters label={audit.filters}>
      <Select<string>
        label={audit.action}
        value={view.action}
        onChange={(action) => show({ action })}
        options={[
          ["", audit.allActions],
          ...known,
          ...(isKnown ? [] : [[view.action, actionWords(words, view.action)] as const]),
        ]}
      />
      <SearchField
        label={audit.actorFilter}
        name="actor"
        value={view.actor}
        onChange={(actor) => show({ actor })}
        maxLength={254}
      />
      <SearchField
        label={audit.server}
        name="server"
        value={view.server}
        onChange={(server) => show({ server })}
        maxLength={254}
      />
      <Field
        label={audit.since}
        name="since"
        type="date"
        value={view.since}
        onChange={(since) => show({ since })}
      />
      <Field
        label={audit.until}
        name="until"
        type="date"
        value={view.until}
        onChange={(until) => show({ until })}
      />
    </Filters>
  );
}

import { useState } from "react";
import { useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Muted, Row } from "../../ui/layout.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { isolate } from "../../words/format.ts";
import { useTemplateWords } from "../../words/template-words.ts";
import { useWords } from "../../words/words.ts";
import type { Template } from "./draft.ts";

const offered = 20;

/** Fills the form with the settings of a server; nothing is saved by that. */
export function FromServer({ onTake }: { onTake: (settings: Template["settings"]) => void }) {
  const words = useTemplateWords();
  const { shell } = useWords();
  const draft = useAction("serverTemplates.draft");
  const [name, setName] = useState("");
  const query = useDebounced(name).slice(0, 100);
  const { data } = useOperation(
    "servers.fleet",
    { limit: offered, offset: 0, ...(query !== "" && { query }) },
    { keepsPrevious: true },
  );
  const take = () => draft.mutate({ name }, { onSuccess: ({ settings }) => onTake(settings) });
  const taken = draft.isSuccess ? draft : undefined;
  return (
    <>
      <Field
        label={words.from}
        name="template-from"
        value={name}
        onChange={(typed) => setName(typed.toLowerCase().trim())}
        description={words.fromHelp}
        suggestions={data?.items.map((server) => server.name) ?? []}
        maxLength={32}
      />
      <Row>
        <Button isPending={draft.isPending} whyNot={name === "" ? shell.fillIn : undefined} onPress={take}>
          {words.take}
        </Button>
      </Row>
      <Failure error={draft.error} />
      {taken && (
        <div role="status">
          <Muted>
            {words.taken(isolate(taken.variables.name))}{" "}
            {taken.data.left_out.length > 0 && words.leftOut(taken.data.left_out.join(", "))}
          </Muted>
        </div>
      )}
    </>
  );
}

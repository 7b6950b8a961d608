import { useState } from "react";
import { useAction } from "../api/query.ts";
import type { ServerRow } from "../server/row.ts";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useGroupWords } from "../words/group-words.ts";
import { visible } from "../words/visible.ts";
import {
  type Decided,
  type Draft,
  decideDraft,
  draftOf,
  emptyDraft,
  type Group,
  longestName,
  mostServers,
  mostStages,
  times,
} from "./draft.ts";

type DialogProps = { group?: Group; servers: readonly ServerRow[]; onClose: () => void };

/** Asks which servers a group has, and in which order they start. */
export function GroupDialog({ group, servers, onClose }: DialogProps) {
  const words = useGroupWords();
  const form = useForm({ group, onClose });
  const { draft, set, problems } = form;
  return (
    <FormDialog
      title={group ? words.editOf(isolate(visible(group.name))) : words.add}
      action={words.save}
      isPending={form.isPending}
      error={form.error}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <Stack>
        <Field
          label={words.name}
          name="group-name"
          value={draft.name}
          onChange={(name) => set({ name })}
          maxLength={longestName}
          error={problems.includes("name") ? words.nameMissing : undefined}
          autoFocus
        />
        <Servers form={form} servers={servers} />
        <Time form={form} />
      </Stack>
    </FormDialog>
  );
}

function useForm({ group, onClose }: { group: Group | undefined; onClose: () => void }) {
  const words = useGroupWords();
  const toast = useToast();
  const create = useAction("serverGroups.create", ["serverGroups.list"]);
  const change = useAction("serverGroups.change", ["serverGroups.list"]);
  const [draft, setDraft] = useState<Draft>(() => (group ? draftOf(group) : emptyDraft));
  const [problems, setProblems] = useState<Decided["problems"]>([]);
  const isPending = create.isPending || change.isPending;
  const submit = () => {
    const decided = decideDraft(draft);
    setProblems(decided.problems);
    if (!decided.body || isPending) return;
    const onSuccess = () => {
      toast({ kind: "done", text: words.saved });
      onClose();
    };
    if (group) change.mutate({ id: group.id, ...decided.body }, { onSuccess });
    else create.mutate(decided.body, { onSuccess });
  };
  const set = (some: Partial<Draft>) => setDraft({ ...draft, ...some });
  return { draft, set, problems, submit, isPending, error: group ? change.error : create.error };
}

type FormProps = { form: ReturnType<typeof useForm> };

function Servers({ form: { draft, set, problems }, servers }: FormProps & { servers: readonly ServerRow[] }) {
  const words = useGroupWords();
  const known = new Set(servers.map(({ name }) => name));
  // One that is in the group and not in the list, such as one that is shared no longer, can still be taken out.
  const others = Object.keys(draft.stages).filter((name) => !known.has(name));
  const rows = [
    ...servers.map(({ name, displayName }) => ({ name, shown: displayName })),
    ...others.map((name) => ({ name, shown: name })),
  ];
  const stages = Array.from({ length: mostStages }, (_, at) => String(at + 1));
  const options = [
    ["0", words.notIn],
    ...stages.map((at) => [at, words.stage(Number(at))] as const),
  ] as const;
  const problem = problems.includes("stages")
    ? words.stagesMissing
    : problems.includes("servers")
      ? words.tooMany(mostServers)
      : undefined;
  return (
    <Stack isTight>
      <Muted>
        {words.servers} {words.serversHelp}
      </Muted>
      {rows.map(({ name, shown }, at) => (
        <Select
          key={name}
          label={words.stageOf(isolate(visible(shown)))}
          value={String(draft.stages[name] ?? 0)}
          onChange={(stage) => set({ stages: { ...draft.stages, [name]: Number(stage) } })}
          options={options}
          error={at === 0 ? problem : undefined}
        />
      ))}
    </Stack>
  );
}

function Time({ form: { draft, set } }: FormProps) {
  const words = useGroupWords();
  const offered = (times as readonly number[]).includes(draft.seconds) ? times : [draft.seconds, ...times];
  const wordOf = (seconds: number) =>
    seconds % 60 === 0 ? words.minutes(seconds / 60) : words.otherSeconds(seconds);
  return (
    <Select
      label={words.seconds}
      value={String(draft.seconds)}
      onChange={(seconds) => set({ seconds: Number(seconds) })}
      options={offered.map((seconds) => [String(seconds), wordOf(seconds)])}
      description={words.secondsHelp}
    />
  );
}

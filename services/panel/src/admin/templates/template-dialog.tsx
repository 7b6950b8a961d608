import { useState } from "react";
import { useAction, useOperation } from "../../api/query.ts";
import { policies } from "../../settings/settings-form.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Columns, Muted, Stack } from "../../ui/layout.tsx";
import { Select } from "../../ui/select.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { useToast } from "../../ui/toasts.tsx";
import type { TemplateWords } from "../../words/en/templates.ts";
import { isolate } from "../../words/format.ts";
import { useTemplateWords } from "../../words/template-words.ts";
import { visible } from "../../words/visible.ts";
import { useWords } from "../../words/words.ts";
import {
  type Decided,
  decideDraft,
  draftOf,
  emptyDraft,
  type FormDraft,
  longestDescription,
  longestTitle,
  type Template,
  withSettings,
} from "./draft.ts";
import { FromServer } from "./from-server.tsx";

type DialogProps = { template?: Template; onClose: () => void };

/** Asks what a template says; the one that is changed is the one that was opened, whatever others do meanwhile. */
export function TemplateDialog({ template, onClose }: DialogProps) {
  const words = useTemplateWords();
  const form = useForm({ template, onClose });
  return (
    <FormDialog
      title={template ? words.editOf(isolate(visible(template.title))) : words.add}
      action={words.save}
      isPending={form.isPending}
      error={form.error}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <Stack>
        <Texts form={form} isNew={template === undefined} />
        <FromServer onTake={(settings) => form.set(withSettings(form.draft, settings))} />
        <Hardware form={form} />
        <Behaviour form={form} />
        <Program form={form} />
      </Stack>
    </FormDialog>
  );
}

function useForm({ template, onClose }: { template: Template | undefined; onClose: () => void }) {
  const words = useTemplateWords();
  const toast = useToast();
  const save = useAction("serverTemplates.save", ["serverTemplates.list", "serverTemplates.listOffered"]);
  const [draft, setDraft] = useState<FormDraft>(() => (template ? draftOf(template) : emptyDraft));
  const [revision] = useState(template?.revision ?? 0);
  const [problems, setProblems] = useState<Decided["problems"]>([]);
  const submit = () => {
    const decided = decideDraft(draft);
    setProblems(decided.problems);
    if (!decided.body || save.isPending) return;
    save.mutate(
      { ...decided.body, revision },
      {
        onSuccess: () => {
          toast({ kind: "done", text: words.saved });
          onClose();
        },
      },
    );
  };
  const set = (some: Partial<FormDraft>) => setDraft({ ...draft, ...some });
  return { draft, set, problems, submit, isPending: save.isPending, error: save.error };
}

type FormProps = { form: ReturnType<typeof useForm> };

function Texts({ form: { draft, set, problems }, isNew }: FormProps & { isNew: boolean }) {
  const words = useTemplateWords();
  return (
    <>
      {isNew && (
        <Field
          label={words.name}
          name="template-name"
          value={draft.name}
          onChange={(name) => set({ name: name.toLowerCase().trim() })}
          description={words.nameHelp}
          error={problems.includes("name") ? words.nameWrong : undefined}
          maxLength={32}
          autoFocus
        />
      )}
      <Field
        label={words.title}
        name="template-title"
        value={draft.title}
        onChange={(title) => set({ title })}
        description={words.titleHelp}
        maxLength={longestTitle}
      />
      <Field
        label={words.description}
        name="template-description"
        value={draft.description}
        onChange={(description) => set({ description })}
        description={words.descriptionHelp}
        maxLength={longestDescription}
      />
      <Checkbox label={words.offered} isChecked={draft.offered} onChange={(offered) => set({ offered })} />
      <Muted>{words.offeredHelp}</Muted>
    </>
  );
}

function Hardware({ form: { draft, set, problems } }: FormProps) {
  const { create, server, settings } = useWords();
  const words = useTemplateWords();
  const images = useOperation("images.listImages", {});
  const allowed = (images.data?.items ?? []).filter(({ enabled }) => enabled);
  const wrong = (field: "memory" | "storage" | "cpu") =>
    problems.includes(field) ? settings.quantityWrong : undefined;
  return (
    <>
      <Field
        label={create.image}
        name="template-image"
        value={draft.image}
        onChange={(typed) => set({ image: typed.trim() })}
        description={create.imageHelp}
        suggestions={allowed.map(({ image_ref }) => image_ref)}
      />
      <Columns>
        <Field
          label={server.memory}
          name="template-memory"
          value={draft.memory}
          onChange={(typed) => set({ memory: typed.trim() })}
          description={create.memoryHelp}
          error={wrong("memory")}
        />
        <Field
          label={server.disk}
          name="template-storage"
          value={draft.storage}
          onChange={(typed) => set({ storage: typed.trim() })}
          description={create.diskHelp}
          error={wrong("storage")}
        />
        <Field
          label={words.cpu}
          name="template-cpu"
          value={draft.cpu}
          onChange={(typed) => set({ cpu: typed.trim() })}
          description={words.cpuHelp}
          error={wrong("cpu")}
        />
      </Columns>
    </>
  );
}

function Behaviour({ form: { draft, set, problems } }: FormProps) {
  const { create, server } = useWords();
  const words = useTemplateWords();
  return (
    <>
      <Select
        label={create.policy}
        value={draft.policy}
        onChange={(policy) => set({ policy })}
        options={[
          ["", words.leftToPlatform] as const,
          ...policies.map((one) => [one, server.policies[one]] as const),
        ]}
      />
      <Field
        label={words.idle}
        name="template-idle"
        inputMode="numeric"
        value={draft.idleMinutes}
        onChange={(idleMinutes) => set({ idleMinutes })}
        description={words.idleHelp}
        error={problems.includes("idle") ? words.idleWrong : undefined}
      />
    </>
  );
}

function Program({ form: { draft, set, problems } }: FormProps) {
  const words = useTemplateWords();
  const others = Object.keys(draft.others) as (keyof FormDraft["others"])[];
  return (
    <>
      <TextArea
        label={words.flags}
        name="template-flags"
        value={draft.flags}
        onChange={(flags) => set({ flags })}
        description={words.flagsHelp}
      />
      <TextArea
        label={words.env}
        name="template-env"
        value={draft.env}
        onChange={(env) => set({ env })}
        description={words.envHelp}
        error={problems.includes("env") ? words.envWrong : undefined}
      />
      {others.length > 0 && <Muted>{words.alsoSets(namesOf(words, others))}</Muted>}
    </>
  );
}

function namesOf({ alsoNames }: TemplateWords, keys: readonly (keyof FormDraft["others"])[]): string {
  return keys.map((key) => alsoNames[key]).join(", ");
}

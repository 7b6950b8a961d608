import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { TemplateFacts } from "../../create/template-facts.tsx";
import { AskingButton } from "../../ui/asking-button.tsx";
import { Button } from "../../ui/button.tsx";
import { ListItem } from "../../ui/list.tsx";
import { Status } from "../../ui/status.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { formatDate, isolate } from "../../words/format.ts";
import { useTemplateWords } from "../../words/template-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import type { Template } from "./draft.ts";
import { TemplateDialog } from "./template-dialog.tsx";

/** One template, and what can be done with it. */
export function TemplateItem({ template }: { template: Template }) {
  const words = useTemplateWords();
  const [isEditing, setEditing] = useState(false);
  const shown = visible(template.title);
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{shown}</bdi>}
        details={<About template={template} />}
        actions={
          <>
            <Button label={words.editOf(isolate(shown))} onPress={() => setEditing(true)}>
              {words.edit}
            </Button>
            <Delete name={template.name} shown={isolate(shown)} />
          </>
        }
      />
      {isEditing && <TemplateDialog template={template} onClose={() => setEditing(false)} />}
    </>
  );
}

function About({ template }: { template: Template }) {
  const words = useTemplateWords();
  const { language } = useLanguage();
  const { name, title, description, offered, settings, problem, changed_by, changed_at } = template;
  const { image, memory, storage, resources, autostartPolicy, idleStopSeconds } = settings;
  return (
    <>
      {title !== name && <div>{name}</div>}
      {description !== "" && (
        <div>
          <bdi>{visible(description)}</bdi>
        </div>
      )}
      <TemplateFacts {...{ image, memory, storage, autostartPolicy, idleStopSeconds }} cpu={resources?.cpu} />
      <div>{words.for[offered ? "accounts" : "staff"]}</div>
      {problem !== undefined && (
        <div>
          <Status
            look={problem === "image_unchecked" ? "unknown" : "failed"}
            word={words.problems[problem]}
          />
        </div>
      )}
      <div>
        <bdi>{words.changed(visible(changed_by), formatDate(Date.parse(changed_at), language))}</bdi>
      </div>
    </>
  );
}

function Delete({ name, shown }: { name: string; shown: string }) {
  const words = useTemplateWords();
  const toast = useToast();
  const remove = useAction("serverTemplates.remove", ["serverTemplates.list", "serverTemplates.listOffered"]);
  const run = () =>
    remove.mutate({ name }, { onSuccess: () => toast({ kind: "done", text: words.deleted }) });
  return (
    <AskingButton
      word={words.delete}
      label={words.deleteOf(shown)}
      title={words.deleteTitle(shown)}
      action={words.delete}
      request={remove}
      onConfirm={run}
    >
      {words.deleteHelp}
    </AskingButton>
  );
}

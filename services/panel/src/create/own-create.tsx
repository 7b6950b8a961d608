import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Select } from "../ui/select.tsx";
import { faultWords } from "../words/faults.ts";
import { useTemplateWords } from "../words/template-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { fieldOfFault } from "./field-of-fault.ts";
import { NameFields, useNames } from "./name-fields.tsx";
import { TemplateFacts } from "./template-facts.tsx";

type Offered = Output<"serverTemplates.listOffered">["templates"][number];

/** Making a server of one's own from a template that is offered. */
export function OwnCreate() {
  const words = useTemplateWords();
  const { data, error, refetch } = useOperation("serverTemplates.listOffered", {});
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  if (data.templates.length === 0) return <Empty title={words.noneOffered}>{words.noneOfferedHelp}</Empty>;
  return (
    <Stack>
      <Failure error={error} retry={() => void refetch()} />
      <OwnForm templates={data.templates} left={data.left} />
    </Stack>
  );
}

function OwnForm({ templates, left }: { templates: readonly Offered[]; left: number }) {
  const words = useWords();
  const own = useTemplateWords();
  const { create } = words;
  const navigate = useNavigate();
  const action = useAction("serverTemplates.createOwn", [
    "ownership.listMine",
    "ownership.readMyQuota",
    "serverTemplates.listOffered",
  ]);
  const usable = templates.find(({ problem }) => problem === undefined);
  const [chosen, setChosen] = useState(usable?.name ?? templates[0]?.name ?? "");
  const names = useNames();
  const { name } = names;
  // One that is gone by now is not chosen any more.
  const template = templates.find((one) => one.name === chosen) ?? templates[0];
  const { error } = action;
  const field = error && fieldOfFault[error.code];
  const errorOf = (at: string) => (error && field === at ? faultWords(words, error) : undefined);
  const isBlocked = template?.problem !== undefined && template.problem !== "image_unchecked";
  const whyNot =
    isBlocked && template.problem
      ? own.problems[template.problem]
      : name === ""
        ? words.shell.fillIn
        : undefined;
  const submit = () => {
    if (!template || whyNot !== undefined || action.isPending) return;
    action.mutate(
      { template: template.name, ...names.asked },
      { onSuccess: () => void navigate({ to: `/servers/${name}`, ignoreBlocker: true }) },
    );
  };
  return (
    <Form onSubmit={submit}>
      <Stack>
        {error && (field === undefined || field === "image") && <Failure error={error} />}
        <Select
          label={own.choose}
          value={template?.name ?? ""}
          onChange={setChosen}
          options={templates.map((one) => [one.name, visible(one.title)])}
        />
        {template && <TemplateAbout template={template} />}
        <NameFields names={names} errorOf={errorOf} />
        {left > 0 && <Muted>{own.left(left)}</Muted>}
        <Button kind="primary" type="submit" isPending={action.isPending} whyNot={whyNot}>
          {create.submit}
        </Button>
      </Stack>
    </Form>
  );
}

type AboutProps = {
  template: Pick<Offered, "description"> & { [K in keyof Offered]?: Offered[K] | undefined };
};

/** What the chosen template is, and why nothing can be made of it now. */
export function TemplateAbout({ template }: AboutProps) {
  const { problems } = useTemplateWords();
  const { description, problem, image, memory, storage, cpu, autostartPolicy, idleStopSeconds } = template;
  return (
    <div>
      {description !== "" && (
        <div>
          <bdi>{visible(description)}</bdi>
        </div>
      )}
      <Muted>
        <TemplateFacts {...{ image, memory, storage, cpu, autostartPolicy, idleStopSeconds }} />
      </Muted>
      {problem !== undefined && <div>{problems[problem]}</div>}
    </div>
  );
}

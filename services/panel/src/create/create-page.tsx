import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Input, Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Stack } from "../ui/layout.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Select } from "../ui/select.tsx";
import { faultWords } from "../words/faults.ts";
import { useTemplateWords } from "../words/template-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { type HardwareChoice, HardwareFields, isAmount, platformsChoice } from "./create-hardware.tsx";
import { fieldOfFault } from "./field-of-fault.ts";
import { NameFields, useNames } from "./name-fields.tsx";
import { OwnCreate, TemplateAbout } from "./own-create.tsx";

type Policy = NonNullable<Input<"servers.create">["autostartPolicy"]>;
const policies: readonly Policy[] = ["public", "allowlist", "ownerOnly"];
type Template = Output<"serverTemplates.list">["templates"][number];

/** Creating a server: staff choose what it is, others make one of their own from a template. */
export function Page() {
  const { create } = useWords();
  const isStaff = useMe().data?.is_admin ?? false;
  return (
    <PageFrame title={create.title} isNarrow>
      {isStaff ? <StaffCreate /> : <OwnCreate />}
    </PageFrame>
  );
}

function StaffCreate() {
  const words = useWords();
  const { create } = words;
  const navigate = useNavigate();
  const action = useAction("servers.create", ["servers.fleet"]);
  const names = useNames();
  const { name } = names;
  const [hardware, setHardware] = useState(platformsChoice);
  const [policy, setPolicy] = useState<Policy>("public");
  const [template, setTemplate] = useState<Template>();
  const { error } = action;
  const field = error && fieldOfFault[error.code];
  const isShown = field !== undefined && !(field === "image" && template);
  const errorOf = (at: string) => (error && field === at ? faultWords(words, error) : undefined);
  const isReady = name !== "" && isAmount(hardware.memory) && isAmount(hardware.storage);
  const submit = () => {
    if (!isReady) return;
    action.mutate(
      {
        ...names.asked,
        ...(template ? { template: template.name } : { autostartPolicy: policy, ...chosenOf(hardware) }),
      },
      { onSuccess: () => void navigate({ to: `/servers/${name}`, ignoreBlocker: true }) },
    );
  };
  return (
    <Form onSubmit={submit}>
      <Stack>
        {error && !isShown && <Failure error={error} />}
        <TemplateChoice template={template} onChoose={setTemplate} />
        <NameFields names={names} errorOf={errorOf} />
        {!template && (
          <>
            <Select
              label={create.policy}
              value={policy}
              onChange={setPolicy}
              options={policies.map((one) => [one, words.server.policies[one]])}
            />
            <HardwareFields
              choice={hardware}
              choose={(change) => setHardware({ ...hardware, ...change })}
              errorOf={errorOf}
            />
          </>
        )}
        <Button
          kind="primary"
          type="submit"
          isPending={action.isPending}
          whyNot={isReady ? undefined : words.shell.fillIn}
        >
          {create.submit}
        </Button>
      </Stack>
    </Form>
  );
}

type ChoiceProps = { template: Template | undefined; onChoose: (template: Template | undefined) => void };

/** Nothing while there is none. */
function TemplateChoice({ template, onChoose }: ChoiceProps) {
  const words = useTemplateWords();
  const { data } = useOperation("serverTemplates.list", {});
  const templates = data?.templates ?? [];
  if (templates.length === 0) return null;
  return (
    <>
      <Select
        label={words.choose}
        value={template?.name ?? ""}
        onChange={(name) => onChoose(templates.find((one) => one.name === name))}
        options={[
          ["", words.noTemplate] as const,
          ...templates.map((one) => [one.name, visible(one.title)] as const),
        ]}
      />
      {template && <TemplateAbout template={offerOf(template)} />}
    </>
  );
}

/** As accounts see it. */
function offerOf({ description, problem, settings }: Template) {
  const { image, memory, storage, resources, autostartPolicy, idleStopSeconds } = settings;
  return {
    ...{ description, problem, image, memory, storage, autostartPolicy, idleStopSeconds },
    cpu: resources?.cpu,
  };
}

/** What is not left to the platform. */
function chosenOf(choice: HardwareChoice): Partial<HardwareChoice> {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== ""));
}

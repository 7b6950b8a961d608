import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { rootDomain } from "../api/hosts.ts";
import type { Input } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Stack } from "../ui/layout.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Select } from "../ui/select.tsx";
import { faultWords } from "../words/faults.ts";
import { useWords } from "../words/words.ts";
import { type HardwareChoice, HardwareFields, isAmount, platformsChoice } from "./create-hardware.tsx";

type Policy = NonNullable<Input<"servers.create">["autostartPolicy"]>;
const policies: readonly Policy[] = ["public", "allowlist", "ownerOnly"];

/** Which field a fault is about. */
const fieldOfFault: Readonly<Record<string, string>> = {
  bad_name: "name",
  name_taken: "name",
  world_volume_exists: "name",
  bad_subdomain: "subdomain",
  subdomain_taken: "subdomain",
  bad_display_name: "displayName",
  image_not_whitelisted: "image",
  image_not_in_registry: "image",
  image_without_provenance: "image",
};

/** Creating a server; the subdomain follows the name until somebody types one. */
export function Page() {
  const words = useWords();
  const { create } = words;
  const navigate = useNavigate();
  const action = useAction("servers.create", ["servers.fleet"]);
  const [name, setName] = useState("");
  const [ownSubdomain, setOwnSubdomain] = useState<string>();
  const [displayName, setDisplayName] = useState("");
  const [hardware, setHardware] = useState(platformsChoice);
  const [policy, setPolicy] = useState<Policy>("public");
  const subdomain = ownSubdomain ?? name;
  const { error } = action;
  const field = error && fieldOfFault[error.code];
  const errorOf = (at: string) => (error && field === at ? faultWords(words, error) : undefined);
  const isReady = name !== "" && isAmount(hardware.memory) && isAmount(hardware.storage);
  const submit = () => {
    if (!isReady) return;
    action.mutate(
      {
        name,
        subdomain,
        autostartPolicy: policy,
        ...(displayName !== "" && { displayName }),
        ...chosenOf(hardware),
      },
      { onSuccess: () => void navigate({ to: `/servers/${name}`, ignoreBlocker: true }) },
    );
  };
  return (
    <PageFrame title={create.title} isNarrow>
      <Form onSubmit={submit}>
        <Stack>
          {error && field === undefined && <Failure error={error} />}
          <NameFields
            name={name}
            subdomain={subdomain}
            setName={setName}
            setSubdomain={setOwnSubdomain}
            errorOf={errorOf}
          />
          <Field
            label={create.displayName}
            name="display-name"
            value={displayName}
            onChange={setDisplayName}
            description={create.displayNameHelp}
            error={errorOf("displayName")}
            maxLength={64}
          />
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
    </PageFrame>
  );
}

/** What is not left to the platform. */
function chosenOf(choice: HardwareChoice): Partial<HardwareChoice> {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== ""));
}

type NameFieldsProps = {
  name: string;
  subdomain: string;
  setName: (name: string) => void;
  setSubdomain: (subdomain: string) => void;
  errorOf: (field: string) => string | undefined;
};

function NameFields({ name, subdomain, setName, setSubdomain, errorOf }: NameFieldsProps) {
  const { create } = useWords();
  return (
    <>
      <Field
        label={create.name}
        name="name"
        value={name}
        onChange={(typed) => setName(typed.toLowerCase().trim())}
        description={create.nameHelp}
        error={errorOf("name")}
        maxLength={32}
        isRequired
      />
      <Field
        label={create.subdomain}
        name="subdomain"
        value={subdomain}
        onChange={(typed) => setSubdomain(typed.toLowerCase().trim())}
        description={create.subdomainHelp(`${subdomain || "…"}.${rootDomain}`)}
        error={errorOf("subdomain")}
        maxLength={32}
        isRequired
      />
    </>
  );
}

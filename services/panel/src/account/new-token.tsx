import { useState } from "react";
import type { Input } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { useOwnServers } from "../server/use-servers.ts";
import { Button } from "../ui/button.tsx";
import { Choice } from "../ui/choice.tsx";
import { Choices } from "../ui/choices.tsx";
import { Copied } from "../ui/copied.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

type Right = Input<"apiTokens.create">["rights"][number];
type Reach = "all" | "some";
const lifetimes = ["7", "30", "90", "365"] as const;
type Days = (typeof lifetimes)[number];

/** Asks what a new token may do, makes it and shows its secret once. */
export function NewToken({ onClose }: { onClose: () => void }) {
  const { tokens } = useWords();
  const create = useAction("apiTokens.create", ["apiTokens.list"]);
  const draft = useDraft();
  const submit = () => {
    const input = draft.submit();
    if (input) create.mutate(input);
  };
  if (create.data) {
    return <Secret name={create.data.token.name} secret={create.data.secret} onClose={onClose} />;
  }
  return (
    <FormDialog
      title={tokens.make}
      action={tokens.makeAction}
      isPending={create.isPending}
      error={create.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <DraftFields draft={draft} />
    </FormDialog>
  );
}

function useDraft() {
  const [name, setName] = useState("");
  const [rights, setRights] = useState<readonly Right[]>(["see"]);
  const [reach, setReach] = useState<Reach>("some");
  const [servers, setServers] = useState<readonly string[]>([]);
  const [days, setDays] = useState<Days>("90");
  const [isSubmitted, setSubmitted] = useState(false);
  const missing = {
    name: name.trim() === "",
    rights: rights.length === 0,
    servers: reach === "some" && servers.length === 0,
  };
  const submit = (): Input<"apiTokens.create"> | undefined => {
    setSubmitted(true);
    if (missing.name || missing.rights || missing.servers) return undefined;
    return {
      name: name.trim(),
      rights: [...rights],
      ...(reach === "some" && { servers: [...servers] }),
      expires_in_days: Number(days),
    };
  };
  return {
    ...{ name, setName, rights, setRights, reach, setReach, servers, setServers, days, setDays, submit },
    /** What is missing, once somebody wanted to go on without it. */
    isMissing: (what: keyof typeof missing) => isSubmitted && missing[what],
  };
}

function DraftFields({ draft }: { draft: ReturnType<typeof useDraft> }) {
  const { tokens } = useWords();
  const { name, setName, rights, setRights, reach, setReach, days, setDays, isMissing } = draft;
  const words = Object.entries(tokens.rightWords) as [Right, string][];
  return (
    <Stack>
      <Field
        label={tokens.tokenName}
        name="token-name"
        description={tokens.tokenNameHelp}
        value={name}
        onChange={setName}
        maxLength={64}
        error={isMissing("name") ? tokens.nameMissing : undefined}
        autoFocus
      />
      <Choices
        label={tokens.rightsLabel}
        options={words}
        isChosen={(right) => rights.includes(right)}
        onChange={(right, isChosen) => setRights(toggled(rights, right, isChosen))}
        error={isMissing("rights") ? tokens.rightsMissing : undefined}
      />
      <Choice
        label={tokens.reachLabel}
        value={reach}
        onChange={setReach}
        options={[
          ["some", tokens.reachSome],
          ["all", tokens.reachAll],
        ]}
      />
      {reach === "some" && <OwnServers draft={draft} />}
      <Select
        label={tokens.lifetimeLabel}
        value={days}
        onChange={setDays}
        options={lifetimes.map((lifetime) => [lifetime, tokens.inDays(Number(lifetime))])}
      />
    </Stack>
  );
}

function OwnServers({ draft }: { draft: ReturnType<typeof useDraft> }) {
  const { tokens } = useWords();
  const { rows } = useOwnServers();
  const { servers, setServers, isMissing } = draft;
  const own = rows?.filter(({ isMine }) => isMine) ?? [];
  return (
    <Choices
      label={tokens.reachSome}
      options={own.map(({ name }) => [name, name])}
      isChosen={(name) => servers.includes(name)}
      onChange={(name, isChosen) => setServers(toggled(servers, name, isChosen))}
      error={isMissing("servers") ? tokens.serversMissing : undefined}
    />
  );
}

function toggled<Value>(values: readonly Value[], value: Value, isChosen: boolean): Value[] {
  const others = values.filter((one) => one !== value);
  return isChosen ? [...others, value] : others;
}

/** An alert, so that a press beside it does not take the secret away. */
function Secret({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  const { tokens } = useWords();
  return (
    <Dialog
      isAlert
      isOpen
      title={tokens.secretTitle(isolate(visible(name)))}
      onClose={onClose}
      actions={
        <Button kind="primary" onPress={onClose}>
          {tokens.secretDone}
        </Button>
      }
    >
      <p>{tokens.secretHelp}</p>
      <Copied text={secret} what={tokens.secretWord} />
    </Dialog>
  );
}

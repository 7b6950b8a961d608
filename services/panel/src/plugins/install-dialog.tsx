import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Checkbox } from "../ui/checkbox.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { Select } from "../ui/select.tsx";
import { formatBytes, isolate } from "../words/format.ts";
import { usePluginWords } from "../words/plugin-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage } from "../words/words.ts";
import { isPossible, type Target } from "./target.ts";

type Project = { source: "modrinth" | "hangar"; id: string; title: string };
type InstallDialogProps = {
  name: string;
  target: Target;
  project: Project;
  /** Version that is chosen from the start. */
  first?: string;
  onClose: () => void;
};

/** Shows what an installation would change, and begins it. */
export function InstallDialog({ name, target, project, first = "", onClose }: InstallDialogProps) {
  const words = usePluginWords();
  const client = useQueryClient();
  const [version, setVersion] = useState(first);
  const [replaces, setReplaces] = useState(false);
  const { source, id } = project;
  const versions = useOperation("plugins.versions", { name, source, project: id, ...target });
  const plan = useAction("plugins.plan");
  const install = useAction("plugins.install");
  const choice = { name, source, project: id, ...target, ...(version !== "" && { version }) };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version is another plan
  useEffect(() => plan.mutate(choice), [version]);
  const shown = plan.data;
  const canInstall = shown !== undefined && isPossible(shown, replaces);
  const submit = () => {
    if (!canInstall || plan.isPending || install.isPending) return;
    install.mutate(
      { ...choice, plan: shown.digest, replace_changed: replaces },
      {
        onSuccess: ({ op }) => {
          // It is seen to run, however soon it ends.
          const key = ["files.listOperations", { name }];
          client.setQueryData<Output<"files.listOperations">>(key, (old) => ({
            ops: [op, ...(old?.ops ?? [])],
          }));
          void client.invalidateQueries({ queryKey: key });
          onClose();
        },
      },
    );
  };
  const whyNot = plan.isPending ? words.planning : canInstall ? undefined : words.impossible;
  return (
    <FormDialog
      title={words.installOf(isolate(visible(project.title)))}
      action={words.install}
      isPending={install.isPending}
      whyNot={whyNot}
      error={install.error ?? plan.error}
      onClose={onClose}
      onSubmit={submit}
    >
      <Stack>
        <Select
          label={words.version}
          value={version}
          onChange={setVersion}
          options={[
            ["", words.newest],
            ...(versions.data?.versions ?? []).map((one) => [one.id, versionWords(words, one)] as const),
          ]}
        />
        {plan.isPending && <p role="status">{words.planning}</p>}
        {shown && !plan.isPending && <Plan plan={shown} />}
        {shown?.problems.some(({ goes_on }) => goes_on === "ask") && (
          <Checkbox label={words.replaceChanged} isChecked={replaces} onChange={setReplaces} />
        )}
        <Muted>{words.restart}</Muted>
      </Stack>
    </FormDialog>
  );
}

type Words = ReturnType<typeof usePluginWords>;

function versionWords(
  words: Words,
  { name, why_not }: Output<"plugins.versions">["versions"][number],
): string {
  return why_not === null ? visible(name) : `${visible(name)} (${words.whyNot[why_not]})`;
}

function Plan({ plan }: { plan: Output<"plugins.plan"> }) {
  const words = usePluginWords();
  const { language } = useLanguage();
  const { items, problems } = plan;
  return (
    <>
      {items.length > 0 && (
        <ul>
          {items.map(({ path, size, host, replaces }) => (
            <li key={path}>
              {replaces
                ? words.replace(isolate(visible(replaces.path)), isolate(visible(path)))
                : words.add(isolate(visible(path)), formatBytes(size, language), isolate(host))}
            </li>
          ))}
        </ul>
      )}
      {problems.map(({ code, about, goes_on }) => (
        <Notice key={`${code} ${about}`} kind={goes_on === "no" ? "failed" : "waiting"}>
          {words.problems[code](isolate(visible(about)))}
        </Notice>
      ))}
    </>
  );
}

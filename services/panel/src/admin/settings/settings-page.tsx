import type { Output } from "../../api/operations.ts";
import { useAction, useOperation } from "../../api/query.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useWords } from "../../words/words.ts";

/** What the owner may switch for the whole installation. */
export function Page() {
  const { platformSettings } = useWords();
  const { data, error, refetch } = useOperation("settings.readSettings", {});
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <PageFrame title={platformSettings.title}>
      <PasswordDoor settings={data} />
    </PageFrame>
  );
}

function PasswordDoor({ settings }: { settings: Output<"settings.readSettings"> }) {
  const { platformSettings } = useWords();
  const toast = useToast();
  const write = useAction("settings.writeSettings", ["settings.readSettings"]);
  const asked = write.isPending ? write.variables.local_auth_enabled : undefined;
  const done = () => toast({ kind: "done", text: platformSettings.saved });
  return (
    <Card title={platformSettings.signIn}>
      <Failure error={write.error} />
      <Checkbox
        label={platformSettings.password}
        isChecked={asked ?? settings.local_auth_enabled}
        onChange={(isOn) => write.mutate({ local_auth_enabled: isOn }, { onSuccess: done })}
      />
      <Muted>{platformSettings.passwordHelp}</Muted>
    </Card>
  );
}

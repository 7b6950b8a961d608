import { useAccess } from "../access/use-access.ts";
import { useAction } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Notice } from "../ui/notice.tsx";
import { useToast } from "../ui/toasts.tsx";
import { formatDate, isolate } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import type { FullStatus } from "./use-server.ts";

type RetirementProps = { name: string; retiring: NonNullable<FullStatus["retiring"]> };

const changed = ["servers.viewStatus", "ownership.listMine", "servers.fleet"] as const;

/** That a server is being given up or deleted, and the way back as long as there is one. */
export function RetirementNotice({ name, retiring }: RetirementProps) {
  const { server } = useWords();
  const { language } = useLanguage();
  const toast = useToast();
  const isStaff = useMe().data?.is_admin ?? false;
  const cancel = useAction("ownership.cancelRetirement", changed);
  const date = formatDate(Date.parse(retiring.requested_at), language);
  const keep = () =>
    cancel.mutate({ name }, { onSuccess: () => toast({ kind: "done", text: server.kept(isolate(name)) }) });
  // Only staff take back what staff decided.
  const isMember = useAccess().as === "member";
  const mayKeep = isStaff || (!retiring.delete && !isMember);
  return (
    <>
      <Notice
        kind="waiting"
        actions={
          mayKeep && (
            <Button isPending={cancel.isPending} onPress={keep}>
              {server.keep}
            </Button>
          )
        }
      >
        {retiring.delete ? server.deleting(date) : server.retiring(date)}
      </Notice>
      <Failure error={cancel.error} />
    </>
  );
}

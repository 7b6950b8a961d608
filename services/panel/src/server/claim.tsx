import { useNavigate } from "@tanstack/react-router";
import type { ApiError } from "../api/error.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { useOwnServers } from "./use-servers.ts";

/** Takes a server that has no owner; where something is missing for it, the refusal leads there. */
export function Claim({ name, isMain = false }: { name: string; isMain?: boolean }) {
  const words = useWords();
  const toast = useToast();
  const navigate = useNavigate();
  const claim = useAction("ownership.claim", ["ownership.listMine", "servers.viewStatus"]);
  const nextSteps: Readonly<Record<string, string>> = {
    not_linked: words.account.linkAnother,
    quota_exceeded: words.server.seeQuota,
  };
  const onError = (error: ApiError) => {
    const word = nextSteps[error.code];
    const action = word !== undefined && { word, run: () => void navigate({ to: "/account" }) };
    toast({ ...failedToast(words, error), ...(action && { action }) });
  };
  return (
    <Button
      kind={isMain ? "primary" : "plain"}
      isPending={claim.isPending}
      label={`${words.server.claim} ${name}`}
      onPress={() =>
        claim.mutate(
          { name },
          {
            onSuccess: () => toast({ kind: "done", text: words.server.claimed(isolate(name)) }),
            onError,
          },
        )
      }
    >
      {words.server.claim}
    </Button>
  );
}

/** The same on the page of a server that the person neither owns nor runs, where it is free. */
export function ClaimIfFree({ name }: { name: string }) {
  const { rows } = useOwnServers();
  const isFree = rows?.some((row) => row.name === name && row.claimable);
  return isFree ? <Claim name={name} isMain /> : null;
}

import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { AskingButton } from "../ui/asking-button.tsx";
import { ListItem } from "../ui/list.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { KeyCard, LastUse } from "./key-card.tsx";
import { NewToken } from "./new-token.tsx";

type Token = Output<"apiTokens.list">["tokens"][number];

/** The caller's API tokens; the secret of one is shown when it is made, and never again. */
export function ApiTokens() {
  const { tokens } = useWords();
  const { data, ...read } = useOperation("apiTokens.list", {});
  return (
    <KeyCard
      title={tokens.tokensTitle}
      about={tokens.about}
      keys={data?.tokens}
      read={read}
      add={tokens.make}
      dialog={(onClose) => <NewToken onClose={onClose} />}
    >
      {(token) => <TokenItem key={token.id} token={token} />}
    </KeyCard>
  );
}

function TokenItem({ token }: { token: Token }) {
  const { tokens } = useWords();
  const revoke = useAction("apiTokens.revoke", ["apiTokens.list"]);
  const shown = visible(token.name);
  return (
    <ListItem
      isLong
      title={<bdi>{shown}</bdi>}
      details={<TokenDetails token={token} />}
      actions={
        <AskingButton
          word={tokens.revokeToken}
          label={tokens.revokeOf(isolate(shown))}
          title={tokens.revokeTitle(isolate(shown))}
          action={tokens.revokeAction}
          request={revoke}
          onConfirm={() => revoke.mutate({ id: token.id })}
        >
          <p>{tokens.revokeHelp}</p>
        </AskingButton>
      }
    />
  );
}

function TokenDetails({ token }: { token: Token }) {
  const { tokens } = useWords();
  const { rights, servers, expires_at } = token;
  const isOver = Date.parse(expires_at) <= Date.now();
  return (
    <>
      <div>{rights.map((right) => tokens.rightWords[right]).join(", ")}</div>
      <div>
        <bdi>{servers?.join(", ") ?? tokens.allServers}</bdi> · {isOver ? tokens.expiredAt : tokens.expiresAt}{" "}
        <Time at={expires_at} />
      </div>
      <div>
        <LastUse of={token} words={tokens} />
      </div>
    </>
  );
}

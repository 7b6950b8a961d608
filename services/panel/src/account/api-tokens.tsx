import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { NewToken } from "./new-token.tsx";

type Token = Output<"apiTokens.list">["tokens"][number];

/** The caller's API tokens; the secret of one is shown when it is made, and never again. */
export function ApiTokens() {
  const { tokens } = useWords();
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useOperation("apiTokens.list", {});
  return (
    <Card title={tokens.tokensTitle}>
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data?.tokens.length === 0 && <Muted>{tokens.about}</Muted>}
      {data && data.tokens.length > 0 && (
        <List label={tokens.tokensTitle}>
          {data.tokens.map((token) => (
            <TokenItem key={token.id} token={token} />
          ))}
        </List>
      )}
      <Row>
        <Button onPress={() => setMaking(true)}>{tokens.make}</Button>
      </Row>
      {isMaking && <NewToken onClose={() => setMaking(false)} />}
    </Card>
  );
}

function TokenItem({ token }: { token: Token }) {
  const { tokens } = useWords();
  const revoke = useAction("apiTokens.revoke", ["apiTokens.list"]);
  const [isAsking, setAsking] = useState(false);
  const shown = visible(token.name);
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{shown}</bdi>}
        details={<TokenDetails token={token} />}
        actions={
          <Button
            isPending={revoke.isPending}
            label={tokens.revokeOf(isolate(shown))}
            onPress={() => setAsking(true)}
          >
            {tokens.revokeToken}
          </Button>
        }
      />
      <Failure error={revoke.error} />
      <Confirm
        title={tokens.revokeTitle(isolate(shown))}
        action={tokens.revokeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => revoke.mutate({ id: token.id })}
      >
        <p>{tokens.revokeHelp}</p>
      </Confirm>
    </>
  );
}

function TokenDetails({ token }: { token: Token }) {
  const { tokens } = useWords();
  const { rights, servers, expires_at, last_used_at, last_used_ip = "" } = token;
  const isOver = Date.parse(expires_at) <= Date.now();
  return (
    <>
      <div>{rights.map((right) => tokens.rightWords[right]).join(", ")}</div>
      <div>
        <bdi>{servers?.join(", ") ?? tokens.allServers}</bdi> · {isOver ? tokens.expiredAt : tokens.expiresAt}{" "}
        <Time at={expires_at} />
      </div>
      <div>
        {last_used_at === undefined ? (
          tokens.neverUsed
        ) : (
          <>
            {tokens.lastUsed} <Time at={last_used_at} /> · <bdi>{last_used_ip}</bdi>
          </>
        )}
      </div>
    </>
  );
}

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { AddPasskey } from "../sign-in/add-passkey.tsx";
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

type Passkey = Output<"passkeys.list">["credentials"][number];

/** The caller's passkeys. */
export function Passkeys() {
  const { account } = useWords();
  const client = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const { data, error, refetch } = useOperation("passkeys.list", {});
  const added = () => {
    setAdding(false);
    void client.invalidateQueries({ queryKey: ["passkeys.list"] });
  };
  return (
    <Card title={account.passkeys}>
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data?.credentials.length === 0 && <Muted>{account.noPasskeys}</Muted>}
      {data && data.credentials.length > 0 && (
        <List label={account.passkeys}>
          {data.credentials.map((passkey) => (
            <PasskeyItem key={passkey.id} passkey={passkey} />
          ))}
        </List>
      )}
      {isAdding ? (
        <AddPasskey onDone={added} />
      ) : (
        <Row>
          <Button onPress={() => setAdding(true)}>{account.anotherPasskey}</Button>
        </Row>
      )}
    </Card>
  );
}

function PasskeyItem({ passkey }: { passkey: Passkey }) {
  const { account } = useWords();
  const remove = useAction("passkeys.remove", ["passkeys.list", "accounts.listSessions"]);
  const [isAsking, setAsking] = useState(false);
  const { id, name, created_at, last_used_at } = passkey;
  const shown = name === "" ? account.unnamedPasskey : name;
  return (
    <>
      <ListItem
        title={<bdi>{visible(shown)}</bdi>}
        details={
          <>
            {account.passkeyAdded} <Time at={created_at} /> ·{" "}
            {last_used_at === undefined ? (
              account.passkeyUnused
            ) : (
              <>
                {account.passkeyUsed} <Time at={last_used_at} />
              </>
            )}
          </>
        }
        actions={
          <Button
            isPending={remove.isPending}
            label={account.removePasskey(isolate(shown))}
            onPress={() => setAsking(true)}
          >
            {account.removePasskeyAction}
          </Button>
        }
      />
      {remove.error && <Failure error={remove.error} />}
      <Confirm
        title={account.removePasskeyTitle(isolate(shown))}
        action={account.removePasskeyAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ id })}
      >
        <p>{account.removePasskeyHelp}</p>
      </Confirm>
    </>
  );
}

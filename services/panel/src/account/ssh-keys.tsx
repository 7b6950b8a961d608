import { lazy, Suspense, useState } from "react";
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
import { useSshKeyWords } from "../words/ssh-key-words.ts";
import { visible } from "../words/visible.ts";

const NewSshKey = lazy(() => import("./new-ssh-key.tsx").then((module) => ({ default: module.NewSshKey })));

type SshKey = Output<"sshKeys.list">["keys"][number];

/** The caller's SSH keys, for SFTP. */
export function SshKeys() {
  return (
    <Suspense fallback={<Loading />}>
      <KeyCard />
    </Suspense>
  );
}

function KeyCard() {
  const words = useSshKeyWords();
  const [isAdding, setAdding] = useState(false);
  const { data, error, refetch } = useOperation("sshKeys.list", {});
  return (
    <Card title={words.keysTitle}>
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data?.keys.length === 0 && <Muted>{words.about}</Muted>}
      {data && data.keys.length > 0 && (
        <List label={words.keysTitle}>
          {data.keys.map((key) => (
            <KeyItem key={key.id} sshKey={key} />
          ))}
        </List>
      )}
      <Row>
        <Button onPress={() => setAdding(true)}>{words.add}</Button>
      </Row>
      {isAdding && (
        <Suspense>
          <NewSshKey onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </Card>
  );
}

function KeyItem({ sshKey }: { sshKey: SshKey }) {
  const words = useSshKeyWords();
  const remove = useAction("sshKeys.remove", ["sshKeys.list"]);
  const [isAsking, setAsking] = useState(false);
  const shown = visible(sshKey.name);
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{shown}</bdi>}
        details={<KeyDetails sshKey={sshKey} />}
        actions={
          <Button
            isPending={remove.isPending}
            label={words.removeOf(isolate(shown))}
            onPress={() => setAsking(true)}
          >
            {words.remove}
          </Button>
        }
      />
      <Failure error={remove.error} />
      <Confirm
        title={words.removeTitle(isolate(shown))}
        action={words.removeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ id: sshKey.id })}
      >
        <p>{words.removeHelp}</p>
      </Confirm>
    </>
  );
}

function KeyDetails({ sshKey }: { sshKey: SshKey }) {
  const words = useSshKeyWords();
  const { type, fingerprint, created_at, last_used_at, last_used_ip = "" } = sshKey;
  return (
    <>
      <div>
        {type} <code>{fingerprint}</code>
      </div>
      <div>
        {words.added} <Time at={created_at} /> ·{" "}
        {last_used_at === undefined ? (
          words.neverUsed
        ) : (
          <>
            {words.lastUsed} <Time at={last_used_at} /> · <bdi>{last_used_ip}</bdi>
          </>
        )}
      </div>
    </>
  );
}

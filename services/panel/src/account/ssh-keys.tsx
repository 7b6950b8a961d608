import { lazy, Suspense } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { AskingButton } from "../ui/asking-button.tsx";
import { ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { useSshKeyWords } from "../words/ssh-key-words.ts";
import { visible } from "../words/visible.ts";
import { KeyCard, LastUse } from "./key-card.tsx";

const NewSshKey = lazy(() => import("./new-ssh-key.tsx").then((module) => ({ default: module.NewSshKey })));

type SshKey = Output<"sshKeys.list">["keys"][number];

/** The caller's SSH keys, for SFTP. */
export function SshKeys() {
  return (
    <Suspense fallback={<Loading />}>
      <Keys />
    </Suspense>
  );
}

function Keys() {
  const words = useSshKeyWords();
  const { data, ...read } = useOperation("sshKeys.list", {});
  return (
    <KeyCard
      title={words.keysTitle}
      about={words.about}
      keys={data?.keys}
      read={read}
      add={words.add}
      dialog={(onClose) => (
        <Suspense>
          <NewSshKey onClose={onClose} />
        </Suspense>
      )}
    >
      {(key) => <KeyItem key={key.id} sshKey={key} />}
    </KeyCard>
  );
}

function KeyItem({ sshKey }: { sshKey: SshKey }) {
  const words = useSshKeyWords();
  const remove = useAction("sshKeys.remove", ["sshKeys.list"]);
  const shown = visible(sshKey.name);
  return (
    <ListItem
      isLong
      title={<bdi>{shown}</bdi>}
      details={<KeyDetails sshKey={sshKey} />}
      actions={
        <AskingButton
          word={words.remove}
          label={words.removeOf(isolate(shown))}
          title={words.removeTitle(isolate(shown))}
          action={words.removeAction}
          request={remove}
          onConfirm={() => remove.mutate({ id: sshKey.id })}
        >
          <p>{words.removeHelp}</p>
        </AskingButton>
      }
    />
  );
}

function KeyDetails({ sshKey }: { sshKey: SshKey }) {
  const words = useSshKeyWords();
  const { type, fingerprint, created_at } = sshKey;
  return (
    <>
      <div>
        {type} <code>{fingerprint}</code>
      </div>
      <div>
        {words.added} <Time at={created_at} /> · <LastUse of={sshKey} words={words} />
      </div>
    </>
  );
}

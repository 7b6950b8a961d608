import { type ReactNode, useState } from "react";
import type { ApiError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Row } from "../ui/layout.tsx";
import { Items } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Time } from "../ui/time.tsx";

type KeyCardProps<Key> = {
  title: string;
  about: string;
  /** Undefined before the first answer. */
  keys: readonly Key[] | undefined;
  read: { error: ApiError | null; refetch: () => unknown };
  add: string;
  dialog: (onClose: () => void) => ReactNode;
  children: (key: Key) => ReactNode;
};

/** Keys of one kind that let programs in as the caller, and the way to another one. */
export function KeyCard<Key>({ title, about, keys, read, add, dialog, children }: KeyCardProps<Key>) {
  const [isAdding, setAdding] = useState(false);
  const { error, refetch } = read;
  return (
    <Card title={title}>
      {!keys && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {keys && (
        <Items label={title} items={keys} none={about}>
          {children}
        </Items>
      )}
      <Row>
        <Button onPress={() => setAdding(true)}>{add}</Button>
      </Row>
      {isAdding && dialog(() => setAdding(false))}
    </Card>
  );
}

type LastUseProps = {
  of: { last_used_at?: string | undefined; last_used_ip?: string | undefined };
  words: { neverUsed: string; lastUsed: string };
};

/** When and from where a key was used last. */
export function LastUse({ of: { last_used_at: at, last_used_ip: ip = "" }, words }: LastUseProps) {
  if (at === undefined) return words.neverUsed;
  return (
    <>
      {words.lastUsed} <Time at={at} /> · <bdi>{ip}</bdi>
    </>
  );
}

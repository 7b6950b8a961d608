import { type Kube, resource, startInformer } from "@svc/kube";
import type { KubeObject, ResourceRef } from "../cluster-api.ts";
import type { Source } from "../controllers/informer.ts";

/** A local copy of one kind of a remote API server; complete once `ready` resolves. */
type Copy<T extends KubeObject> = Source<T> & { ready: Promise<void>; close(): Promise<void> };

/** The kind as the client of a remote API server names it. */
export function kindOf<T extends KubeObject>(
  { group, version, resource: plural }: ResourceRef,
  namespaced: boolean,
) {
  return resource<T>({ group, version, plural, kind: "", namespaced });
}

type CopyOptions = { kube: Kube; warn(text: string): void; namespaced: boolean };

export function startCopy<T extends KubeObject>(
  ref: ResourceRef,
  { kube, warn, namespaced }: CopyOptions,
): Copy<T> {
  const listeners: Parameters<Source<T>["onChange"]>[0][] = [];
  const tell = (object: T, previous: T | undefined, deleted: boolean) => {
    for (const listener of listeners) listener(object, previous, deleted);
  };
  const informer = startInformer<T>({
    kube,
    log: { warn: (about, text) => warn(`${text}: ${JSON.stringify(about)}`) },
    resource: kindOf<T>(ref, namespaced),
    onChange: (_key, now, before) => {
      if (now === undefined) {
        if (before !== undefined) tell(before, before, true);
        return;
      }
      // Deleted and created again while the watch was interrupted.
      const isAnother = before !== undefined && before.metadata.uid !== now.metadata.uid;
      if (isAnother) tell(before, before, true);
      tell(now, isAnother ? undefined : before, false);
    },
  });
  return {
    get: (key) => informer.get(key),
    values: () => informer.list(),
    onChange: (listener) => {
      listeners.push(listener);
      for (const object of informer.list()) listener(object, undefined, false);
    },
    assume: (object) => informer.remember(object as T),
    ready: informer.ready,
    close: () => informer.stop(),
  };
}

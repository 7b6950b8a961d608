import { isKubeError, type Kube, pathOf } from "@svc/kube";
import type { KubeObject, NodeApi, ResourceRef } from "../cluster-api.ts";
import type { Pod } from "../controllers/objects.ts";
import { kindOf } from "./copy.ts";

type Place = { name: string; namespace?: string };

const kindAt = (ref: ResourceRef, { namespace }: { namespace?: string | undefined }) =>
  kindOf<KubeObject>(ref, namespace !== undefined);
const placed = (name: string, namespace: string | undefined): Place =>
  namespace === undefined ? { name } : { name, namespace };

/** The API of node agents, of any API server. Every call reads or writes there; none is answered from a copy. */
export function createRemoteApi(kube: Kube): NodeApi {
  return {
    find: (ref, name, namespace) => kube.find(kindAt(ref, { namespace }), placed(name, namespace)),
    create: (ref, object) =>
      kube.transport.request({
        method: "POST",
        path: pathOf(kindAt(ref, object.metadata), placed("", object.metadata.namespace)).replace(/\/$/, ""),
        body: object,
      }) as Promise<KubeObject>,
    mergePatch: (ref, { subresource, ...target }, merge) =>
      kube.patch(kindAt(ref, target), target, { merge, ...(subresource && { subresource }) }),
    delete: (ref, target, { preconditions, ...options } = {}) =>
      kube.remove(kindAt(ref, target), target, { ...preconditions, ...options }),
    bindPod: async ({ name, namespace }, nodeName) => {
      const target = { apiVersion: "v1", kind: "Node", name: nodeName };
      const body = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace }, target };
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
      await kube.transport.request({ method: "POST", path, body });
    },
  };
}

/**
 * A token of the account that is valid while the pod exists, for an hour at most; it is not renewed. Undefined while
 * the account does not exist.
 */
export async function requestToken(kube: Kube, pod: Pod, account: string): Promise<string | undefined> {
  const { namespace = "default", name, uid } = pod.metadata;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid };
  try {
    const answer = (await kube.transport.request({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 3600, boundObjectRef },
      },
    })) as { status: { token: string } };
    return answer.status.token;
  } catch (error) {
    if (isKubeError(error, 404)) return undefined;
    throw error;
  }
}

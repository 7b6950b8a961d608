// Ways in which a store misbehaves.

export type Operation =
  | "put"
  | "get"
  | "head"
  | "delete"
  | "list"
  | "list-versions"
  | "create-upload"
  | "upload-part"
  | "list-parts"
  | "complete-upload"
  | "abort-upload"
  | "list-uploads"
  | "bucket";

type Fault = {
  /** Which requests; all unless given. */
  on?: Operation | readonly Operation[];
  /** Which keys; all unless given. */
  key?: string | RegExp;
  /** How many requests; all unless given. */
  times?: number;
} & (
  | { do: "refuse"; status: number; code: string; retryAfter?: string }
  /** Bodies travel this slowly, both ways. */
  | { do: "stall"; bytesPerSecond: number }
  /** The connection breaks after this many bytes of the body; 0 = before the body begins. */
  | { do: "cut"; afterBytes: number }
  /** The request is carried out, and its answer is lost. */
  | { do: "lose-answer" }
  /** A byte of the answered body is another one. */
  | { do: "corrupt" }
  /** A put is answered as usual and stores nothing. */
  | { do: "lose-object" }
  /** A put stores other bytes than it was sent. */
  | { do: "store-other-bytes" }
  /** Listings and HEAD report a size that is off by this many bytes. */
  | { do: "wrong-size"; by: number }
  /** Responses carry no Content-Length. */
  | { do: "hide-length" }
  /** Lists leave the object out. */
  | { do: "hide" }
);

export type Faults = {
  add: (fault: Fault) => { remove: () => void };
  /** The first fault of a kind that meets this request; counts it. */
  take: <D extends Fault["do"]>(
    kind: D,
    request: { operation: Operation; key: string },
  ) => Extract<Fault, { do: D }> | undefined;
  clear: () => void;
};

export function createFaults(): Faults {
  let faults: { fault: Fault; left: number }[] = [];
  const meets = (fault: Fault, { operation, key }: { operation: Operation; key: string }) => {
    const operations = fault.on === undefined ? undefined : [fault.on].flat();
    if (operations && !operations.includes(operation)) return false;
    if (fault.key === undefined) return true;
    return typeof fault.key === "string" ? fault.key === key : fault.key.test(key);
  };
  return {
    add(fault) {
      const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      faults.push(entry);
      return {
        remove() {
          faults = faults.filter((one) => one !== entry);
        },
      };
    },
    take<D extends Fault["do"]>(kind: D, request: { operation: Operation; key: string }) {
      const entry = faults.find(({ fault, left }) => left > 0 && fault.do === kind && meets(fault, request));
      if (!entry) return undefined;
      entry.left -= 1;
      return entry.fault as Extract<Fault, { do: D }>;
    },
    clear() {
      faults = [];
    },
  };
}

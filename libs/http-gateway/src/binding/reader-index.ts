// Which entries of a view an account may see, so that a list costs what it shows and not what there is
// (docs/reference/http.md#views).

/** The accounts that an entry is for, or everybody. */
export type Audience = readonly string[] | "everybody";

type ReaderIndex = {
  /** The entry has changed: its audience is asked for again before the next answer. */
  changed: (key: string) => void;
  /** Keys of what may be for this account, in order; undefined while `isReady` says no. */
  keysFor: (account: string) => readonly string[] | undefined;
};

type Source = {
  isReady: () => boolean;
  keys: () => readonly string[];
  /** Undefined: there is no such entry. What is not known yet is for everybody: then everybody asks the owner. */
  audienceOf: (key: string) => Audience | undefined;
};

export function createReaderIndex({ isReady, keys, audienceOf }: Source): ReaderIndex {
  const byAccount = new Map<string, Set<string>>();
  const forEverybody = new Set<string>();
  const known = new Map<string, Audience>();
  let waiting: Set<string> | undefined;

  const remove = (key: string) => {
    const audience = known.get(key);
    known.delete(key);
    if (audience === "everybody") forEverybody.delete(key);
    else
      for (const account of audience ?? []) {
        const own = byAccount.get(account);
        own?.delete(key);
        if (own?.size === 0) byAccount.delete(account);
      }
  };
  const place = (key: string) => {
    remove(key);
    const audience = audienceOf(key);
    if (audience === undefined) return;
    known.set(key, audience);
    if (audience === "everybody") forEverybody.add(key);
    else
      for (const account of audience) byAccount.set(account, (byAccount.get(account) ?? new Set()).add(key));
  };
  return {
    // Before the first question nothing is placed, and all of it will be.
    changed: (key) => void waiting?.add(key),
    keysFor: (account) => {
      if (!isReady()) return undefined;
      for (const key of waiting ?? keys()) place(key);
      waiting = new Set();
      return [...new Set([...(byAccount.get(account) ?? []), ...forEverybody])].sort();
    },
  };
}

// Who may connect and sign in, by address and account (docs/reference/sftp.md#limits). Pure but for the clock that it is given.

import { addressKey } from "@svc/proto/address";
import { fullBucket, isFull, type TokenBucket, takeTokens } from "@svc/service/token-bucket";

type Limits = {
  sessions: number;
  sessionsPerAccount: number;
  connectionsPerAddress: number;
  signInsPerMinute: number;
};

/** Connections that are not signed in yet, beside those that are. */
const spareConnections = 64;
const mostAddresses = 10_000;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(limits: Limits, now: () => number) {
  const connections = new Map<string, number>();
  const accounts = new Map<string, number>();
  const buckets = new Map<string, TokenBucket>();
  const rate = { burst: limits.signInsPerMinute, perSecond: limits.signInsPerMinute / 60 };
  let connected = 0;
  let signedIn = 0;
  return {
    signedIn: () => signedIn,
    /** Whether another connection of this address is taken; then `leave` must follow. */
    enter: (address: string): boolean => {
      const key = addressKey(address);
      const count = connections.get(key) ?? 0;
      if (count >= limits.connectionsPerAddress || connected >= limits.sessions + spareConnections)
        return false;
      connections.set(key, count + 1);
      connected += 1;
      return true;
    },
    leave: (address: string) => {
      decrease(connections, addressKey(address));
      connected -= 1;
    },
    /** Whether this address may send another signature. */
    trySignIn: (address: string): boolean => {
      const key = addressKey(address);
      const bucket = buckets.get(key) ?? fullBucket(rate, now());
      const isTaken = takeTokens(bucket, rate, now()) === 0;
      if (!buckets.has(key) && buckets.size >= mostAddresses) forgetFull(buckets, rate, now());
      buckets.set(key, bucket);
      return isTaken;
    },
    /** Whether another session of this account is taken; then `signOut` must follow. */
    signIn: (account: string): boolean => {
      const count = accounts.get(account) ?? 0;
      if (count >= limits.sessionsPerAccount || signedIn >= limits.sessions) return false;
      accounts.set(account, count + 1);
      signedIn += 1;
      return true;
    },
    signOut: (account: string) => {
      decrease(accounts, account);
      signedIn -= 1;
    },
  };
}

function decrease(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

/** Those that are as if nothing had been taken; when there is none, the oldest. */
function forgetFull(
  buckets: Map<string, TokenBucket>,
  rate: { burst: number; perSecond: number },
  now: number,
): void {
  for (const [key, bucket] of buckets) if (isFull(bucket, rate, now)) buckets.delete(key);
  const [oldest] = buckets.keys();
  if (buckets.size >= mostAddresses && oldest !== undefined) buckets.delete(oldest);
}

// Whether the time of an answer tells who has an account. It informs and judges nothing: on a busy machine read only
// how the rows compare. Run: node tests/bench/subjects/sign-in-timing.ts [rounds]

import { isFault, signIn } from "@svc/proto";
import { hashPassword } from "../../../services/identity/src/sign-in/password-hash.ts";
import { savePassword } from "../../../services/identity/src/sign-in/password-store.ts";
import { type Fixture, startFixture } from "../../../services/identity/src/testing/fixture.ts";

const rounds = Number(process.argv[2] ?? 200);
const anonymous = { principal: { kind: "anonymous" } as const };
const big = "1000000000";
const fixture = await startFixture({
  set: [
    ...["smtp.max_per_hour", "identity.mail_recipient_burst", "identity.password_burst"].map(
      (key) => `${key}=${big}`,
    ),
    "identity.otp_lock_failures=1000000",
    "identity.otp_tries=1000000",
  ],
});

type Door = { name: string; ask: (fixture: Fixture, address: string) => Promise<unknown> };
type Group = { name: string; addresses: readonly string[] };

const doors: Door[] = [
  { name: "email/start", ask: (on, email) => on.gateway.call(signIn.startEmail, { email }, anonymous) },
  { name: "op-login/start", ask: (on, email) => on.gateway.call(signIn.startOpLogin, { email }, anonymous) },
  {
    name: "email/verify",
    ask: (on, email) => on.gateway.call(signIn.verifyEmail, { email, code: "000000" }, anonymous),
  },
  {
    name: "password",
    ask: (on, email) =>
      on.gateway.call(signIn.passwordLogin, { username: email, password: "wrong" }, anonymous),
  },
];

async function makeGroups(): Promise<Group[]> {
  const named = (name: string) => Array.from({ length: rounds }, (_, index) => `${name}${index}@example.org`);
  const passwordHash = await hashPassword("right");
  const groups: Group[] = [];
  for (const [name, role] of [["player", "user"] as const, ["staff", "admin"] as const]) {
    const addresses = named(name);
    for (const email of addresses) {
      const { userId } = await fixture.person({ email, emailVerified: true, role });
      await fixture.database.admin("update identity.users set username = email where id = $1", [userId]);
      await fixture.store.db
        .transaction()
        .execute((trx) => savePassword(trx, { userId, passwordHash, now: fixture.now() }));
    }
    groups.push({ name, addresses });
  }
  return [...groups, { name: "unknown", addresses: named("nobody") }];
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work().catch((error: unknown) => {
    if (!isFault(error) || error.fault === "internal") throw error;
  });
  return performance.now() - startedAt;
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
}

/** How often a time of one group is longer than one of the other: 0.5 says that they cannot be told apart. */
function superiority(ones: readonly number[], others: readonly number[]): number {
  let wins = 0;
  for (const one of ones) for (const other of others) wins += one > other ? 1 : one === other ? 0.5 : 0;
  return wins / (ones.length * others.length);
}

await fixture.database.admin(
  "insert into identity.platform_settings (key, value) values ('local_auth_enabled', 'true'::jsonb)",
);
const groups = await makeGroups();
console.log(`${rounds} tries of each, in turns and in changing order; milliseconds`);
console.log("door            group      p50     p90   P(longer than unknown)");
for (const { name, ask } of doors) {
  const times = new Map<string, number[]>(groups.map((group) => [group.name, []]));
  for (let round = 0; round < rounds; round++) {
    const order = groups.toSorted(() => Math.random() - 0.5);
    for (const group of order) {
      const address = group.addresses[round] ?? "";
      times.get(group.name)?.push(await timeOf(() => ask(fixture, address)));
      // What a door does after its answer must not slow the next one down.
      await new Promise((wake) => setTimeout(wake, 5));
    }
  }
  const unknown = times.get("unknown") ?? [];
  for (const [group, taken] of times) {
    const sorted = taken.toSorted((a, b) => a - b);
    const figures = [quantile(sorted, 0.5), quantile(sorted, 0.9)].map((ms) => ms.toFixed(2).padStart(7));
    const likely = superiority(taken, unknown).toFixed(2);
    console.log(`${name.padEnd(15)} ${group.padEnd(8)} ${figures.join(" ")}   ${likely}`);
  }
}
await fixture.stop();

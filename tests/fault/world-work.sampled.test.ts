// Long work on worlds and accounts while any process of the stack is killed or hangs at a random moment: a move, a
// reclaim, a deletion, a transfer to another account, a download of a backup and an extraction. Each comes to its end when
// its caller repeats what it was told to repeat, and no byte of a world is lost. SVC_FAULT_SEED drives another run.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { createRandom, until } from "@svc/local-stack/testing";
import pg from "pg";
import { makeZip } from "../../libs/world/src/testing/zip.ts";
import type { RawRequest, RawResponse } from "../security/raw-request.ts";
import { player, type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { createTransfer } from "./account-transfer.ts";
import { freeze, pidOf } from "./processes.ts";

const seed = Number(process.env["SVC_FAULT_SEED"] ?? 1);
const rounds = 3;
/** Longer than every lease under the settings of this stack. */
const hangMs = 8_000;
const strikeWithinMs = 2_500;
const patienceMs = 120_000;

const victims = [
  "gateway-external",
  "gateway-internal",
  "lifecycle",
  "identity",
  "storage",
  "nats",
  "postgres",
  "local-cluster",
] as const;
const fates = ["is killed", "hangs"] as const;
type Fault = { victim: string; fate: (typeof fates)[number]; delayMs: number };

const works = ["a move", "a reclaim", "a deletion", "a transfer", "a download", "an extraction"] as const;
type Work = (typeof works)[number];

describe(`work on worlds, seed ${seed}`, { skip: isWhole ? false : "runs with npm test -- --whole" }, () => {
  const random = createRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  let fixture: StackFixture;
  let db: pg.Pool;

  before(async () => {
    const settings = [
      ...["lifecycle.wake_cooldown=0s", "lifecycle.stop_notice=0s", "lifecycle.arrival_window=2s"],
      ...["archive.manual_cooldown=0s", "storage.lease_duration=6s", "storage.lease_renew=2s"],
      ...["storage.export_hourly=1000", "identity.otp_resend=1s"],
    ];
    fixture = await startStackFixture(settings.flatMap((setting) => ["--set", setting]));
    // A run that was disturbed ends with a word to the operator.
    fixture.stack.expectErrors(/svc reaper: evaluated=/);
    assert.equal((await fixture.redeem()).status, 200);
    await fixture.leaveSetup();
    db = new pg.Pool({ connectionString: fixture.stack.file().database_url, max: 1 });
    db.on("error", () => undefined);
  });
  after(async () => {
    await db?.end();
    await fixture?.stop();
  });

  /** What a caller may be told while something is away: to come again. Anything else ends the test. */
  const isPassing = ({ status, text }: RawResponse) =>
    [429, 503, 504].includes(status) ||
    (status === 409 && /maintenance_in_progress|busy|not_stopped|reclaiming/.test(text));

  /** Repeats a question until it is answered with one of these statuses; what nobody should be told ends the test. */
  async function insist(question: RawRequest, ...wanted: number[]): Promise<RawResponse> {
    const about = `${question.method ?? "GET"} ${question.path}`;
    const { reply } = await until(
      async () => {
        const reply = await fixture.asOwner(question);
        if (wanted.includes(reply.status) || !isPassing(reply)) return { reply };
        throw new Error(`${about} answered ${reply.status} ${reply.text}`);
      },
      patienceMs,
      `${about} to answer ${wanted.join(" or ")}`,
    );
    assert.ok(wanted.includes(reply.status), `${about} answered ${reply.status} ${reply.text}`);
    return reply;
  }
  const read = async <T>(path: string): Promise<T> => JSON.parse((await insist({ path }, 200)).text) as T;

  async function inject({ victim, fate, delayMs }: Fault): Promise<void> {
    await new Promise((wake) => setTimeout(wake, delayMs));
    if (fate === "hangs") {
      const resume = freeze(fixture.stack, victim);
      await new Promise((wake) => setTimeout(wake, hangMs));
      return resume();
    }
    const pid = pidOf(fixture.stack, victim);
    process.kill(pid, "SIGKILL");
    await until(() => pidOf(fixture.stack, victim) !== pid, 30_000, `${victim} to be started again`);
  }

  const proof = (name: string) => createHash("sha256").update(`${seed} ${name}`).digest("base64").repeat(200);
  const pathOf = (name: string) => `/api/v1/servers/${name}`;

  async function phaseBecomes(name: string, phase: string): Promise<void> {
    await until(
      async () => {
        const reply = await fixture.asProxy({ path: `/api/v1/internal/servers/${name}/status` });
        return reply.status === 200 && (JSON.parse(reply.text) as { phase: string }).phase === phase;
      },
      patienceMs,
      `${name} to be ${phase}`,
    );
  }

  /** A sleeping server whose world holds a file that nothing else has. */
  async function addWorld(name: string): Promise<void> {
    const json = { name, subdomain: name, autostartPolicy: "public", nodeName: "local-1" };
    await insist({ method: "POST", path: "/api/v1/servers", json }, 201);
    await runOnce(name);
    await writeFile(name, "proof.txt", Buffer.from(proof(name)));
  }

  async function runOnce(name: string): Promise<void> {
    const wake = { method: "POST", path: `/api/v1/internal/servers/${name}/wake`, json: { mc_uuid: player } };
    await until(async () => (await fixture.asProxy(wake)).status === 202, patienceMs, "a wake");
    await phaseBecomes(name, "Running");
    await insist({ method: "POST", path: `${pathOf(name)}/stop` }, 202);
    await phaseBecomes(name, "Stopped");
  }

  async function writeFile(name: string, path: string, content: Buffer): Promise<void> {
    const headers = {
      "content-type": "application/octet-stream",
      "content-digest": `sha-256=:${createHash("sha256").update(content).digest("base64")}:`,
    };
    const where = `${pathOf(name)}/files/upload?path=${path}&overwrite=true`;
    await insist({ method: "PUT", path: where, text: content, headers }, 200);
  }

  async function assertWorld(name: string): Promise<void> {
    const { content } = await read<{ content: string }>(`${pathOf(name)}/file?path=proof.txt`);
    assert.equal(Buffer.from(content, "base64").toString(), proof(name), `the world of ${name}`);
  }

  type Backup = { id: string; reason: string; size_bytes: number; corrupt?: boolean };
  const backupsOf = async (name: string) =>
    (await read<{ backups: Backup[] }>(`/api/v1/backups?server=${name}`)).backups;
  type Job = { kind: string; state: string; message?: string };

  async function restore(name: string, backupId: string): Promise<void> {
    const json = { backup_id: backupId, safety_snapshot: false };
    await insist({ method: "POST", path: `${pathOf(name)}/restore-backup`, json }, 202);
    await until(
      async () => {
        const { jobs } = await read<{ jobs: Job[] }>(`${pathOf(name)}/jobs`);
        const job = jobs.find(({ kind }) => kind === "restore");
        assert.notEqual(job?.state, "failed", job?.message);
        return job?.state === "succeeded";
      },
      patienceMs,
      "the restore to end",
    );
    await assertWorld(name);
  }

  /** Runs the reaper until it has left a backup for that reason. */
  async function reapUntil(name: string, reason: string): Promise<Backup> {
    return until(
      async () => {
        const run = await fixture.stack.svc("reaper", "--json");
        const found = (await backupsOf(name)).find((one) => one.reason === reason && !one.corrupt);
        if (!found) throw new Error(run.stdout + run.stderr);
        return found;
      },
      patienceMs,
      `a backup ${reason}`,
    );
  }

  async function download(name: string, backup: Backup): Promise<string> {
    return until(
      async () => {
        const started = await insist(
          { method: "POST", path: `${pathOf(name)}/backups/${backup.id}/export` },
          202,
        );
        const { ticket } = JSON.parse(started.text) as { ticket: string };
        const state = await until(
          async () => {
            const reply = await fixture.asOwner({ path: `/api/v1/exports/${ticket}` });
            return reply.status === 200 && reply.text.includes("pending") ? undefined : reply;
          },
          15_000,
          "the download to be ready",
        );
        if (state.status !== 200 || !state.text.includes("ready")) return undefined;
        const reply = await fixture.asOwner({ path: `/api/v1/exports/${ticket}/download` });
        if (reply.status !== 200) return undefined;
        assert.equal(Number(reply.headers["content-length"]), backup.size_bytes);
        return createHash("sha256").update(reply.text).digest("hex");
      },
      patienceMs,
      "the whole archive",
    );
  }

  const extracted = Object.fromEntries([1, 2, 3].map((n) => [`mods/${n}.txt`, `mod ${n} `.repeat(5_000)]));

  /** Each prepares what it needs and returns the work that is disturbed, with what must hold at its end. */
  const workOf: Record<Work, (name: string) => Promise<() => Promise<void>>> = {
    "a move": async (name) => async () => {
      const json = { targetNode: "local-2" };
      await insist({ method: "POST", path: `${pathOf(name)}/migrations`, json }, 202, 409);
      await until(
        async () => {
          type Move = { id: string; state: string };
          const move = await read<Move>(`${pathOf(name)}/migrations`);
          const again = { method: "POST", path: `${pathOf(name)}/migrations/${move.id}/retry` };
          if (move.state === "failed") await insist(again, 202, 409);
          return move.state === "succeeded";
        },
        patienceMs,
        "the move to end",
      );
      await assertWorld(name);
    },
    "a reclaim": async (name) => {
      const idle = "update lifecycle.servers set last_active_at = now() - interval '16 days' where name = $1";
      assert.equal((await db.query(idle, [name])).rowCount, 1);
      return async () => {
        const { id } = await reapUntil(name, "inactive_15d");
        // Its world is gone, and restored into the one that it begins anew with.
        await runOnce(name);
        await restore(name, id);
      };
    },
    "a deletion": async (name) => async () => {
      const json = { confirm: name, delete: true };
      await insist({ method: "PUT", path: `${pathOf(name)}/retirement`, json }, 202, 404);
      const backup = await reapUntil(name, "released");
      await until(
        async () => {
          const reply = await fixture.asProxy({ path: `/api/v1/internal/servers/${name}/status` });
          if (reply.status !== 404) await fixture.stack.svc("reaper", "--json");
          return reply.status === 404;
        },
        patienceMs,
        `${name} to be gone`,
      );
      assert.ok(backup.size_bytes > 0);
    },
    "a transfer": async (name) => createTransfer(fixture, name, patienceMs),
    "a download": async (name) => {
      await insist({ method: "POST", path: `${pathOf(name)}/backup` }, 202);
      const backup = await until(async () => (await backupsOf(name))[0], patienceMs, "the backup");
      const whole = await download(name, backup);
      return async () => assert.equal(await download(name, backup), whole);
    },
    "an extraction": async (name) => {
      const entries = Object.entries(extracted).map(([path, content]) => ({
        name: path,
        content,
        deflate: true,
      }));
      await writeFile(name, "pack.zip", makeZip(entries));
      return async () => {
        await until(
          async () => {
            const path = `${pathOf(name)}/files/unzip?path=pack.zip`;
            const started = await insist({ method: "POST", path, json: { overwrite: true } }, 202);
            const { op } = JSON.parse(started.text) as { op: { id: string } };
            type Op = { id: string; state: string };
            const state = await until(
              async () => {
                const { ops } = await read<{ ops: Op[] }>(`${pathOf(name)}/files/ops`);
                const now = ops.find(({ id }) => id === op.id)?.state ?? "lost";
                return now === "running" ? undefined : now;
              },
              60_000,
              "its end",
            );
            return state === "succeeded";
          },
          patienceMs,
          "the extraction",
        );
        for (const [path, content] of Object.entries(extracted)) {
          const file = await read<{ content: string }>(`${pathOf(name)}/file?path=${path}`);
          assert.equal(Buffer.from(file.content, "base64").toString(), content, path);
        }
        await assertWorld(name);
      };
    },
  };

  for (let round = 0; round < rounds; round += 1) {
    for (const [place, work] of works.entries()) {
      const fault: Fault = {
        victim: pick(victims),
        fate: pick(fates),
        delayMs: Math.floor(random() * strikeWithinMs),
      };
      test(`${work} ends while ${fault.victim} ${fault.fate} after ${fault.delayMs} ms`, async () => {
        const name = `work-${round}-${place}`;
        await addWorld(name);
        const disturbed = await workOf[work](name);
        await Promise.all([inject(fault), disturbed()]);
      });
    }
  }
});

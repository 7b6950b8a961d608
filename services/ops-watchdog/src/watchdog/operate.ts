// What people do about alerts, for the panel and for the person at the host alike (docs/reference/alerts.md#silence).

import { type alerts, Fault } from "@svc/proto";
import { type RelaySettings, relaySettings } from "@svc/smtp";
import type { Settings } from "../config.ts";
import { receiversOf } from "./deliver/receivers.ts";
import { heldBy } from "./held.ts";
import { acknowledge, addSilence, type NewSilence, removeSilence } from "./silence.ts";
import { openStateFile, type StateFile } from "./state-file.ts";
import { toAlert, toHistory, toSilence, toStatus } from "./view.ts";

export type AlertDeps = {
  settings: Settings;
  file: StateFile;
  relay: RelaySettings | undefined;
  env: NodeJS.ProcessEnv;
  now: () => number;
};

const testPauseMs = 60_000;

/** Everything that works on the watchdog's state has these. */
export function alertDeps(settings: Settings, env: NodeJS.ProcessEnv, now: () => number): AlertDeps {
  const { state_dir: dir, state_copy_dir: copyDir, watch_mail_timeout } = settings.ops_watchdog;
  const relay = relaySettings(settings.smtp, watch_mail_timeout, env);
  return { settings, relay, env, now, file: openStateFile({ dir, copyDir, now }) };
}

export async function readStatus({ settings, file, relay, now }: AlertDeps): Promise<alerts.AlertStatus> {
  const own = settings.ops_watchdog;
  const state = await file.read();
  const isHeld = (await heldBy(own.quiet_file, state, now())) !== undefined;
  return toStatus(state, { settings: own, relay, isHeld, now: now() });
}

export async function readHistory({ file }: Pick<AlertDeps, "file">): Promise<alerts.AlertHistoryEntry[]> {
  return toHistory(await file.read());
}

export async function silence({ file, now }: AlertDeps, wanted: NewSilence): Promise<alerts.AlertSilence> {
  let made: alerts.AlertSilence | undefined;
  await change(file, (state) => {
    const added = addSilence(state, wanted, now());
    if (!added) throw new Fault("bad_request", { message: "There are 100 silences; end some first." });
    made = toSilence(added.silence);
    return added.state;
  });
  return made as unknown as alerts.AlertSilence;
}

export async function endSilence({ file, now }: AlertDeps, about: { id: string; by: string }): Promise<void> {
  await change(file, (state) => {
    const ended = removeSilence(state, about, now());
    if (!ended)
      throw new Fault("not_found", { message: "There is no such silence; `svc alerts list` names them." });
    return ended;
  });
}

export async function acknowledgeAlert(
  { file, now }: AlertDeps,
  about: { key: string; by: string; note?: string | undefined },
): Promise<alerts.Alert> {
  const state = await change(file, (before) => {
    const done = acknowledge(before, about, now());
    if (!done)
      throw new Fault("not_found", {
        message: "No such alert fires; `svc alerts list` names those that do.",
      });
    return done;
  });
  const alert = state.alerts[about.key];
  if (!alert) throw new Fault("not_found");
  return toAlert({ key: about.key, ...alert }, state.silences, now());
}

type Deliveries = { name: string; ok: boolean; error?: string }[];

/** Sends a test to every receiver; all mails are one entry. Throws `alert_test_cooldown` within a minute of the last one. */
export async function sendTests({ settings, file, relay, env, now }: AlertDeps): Promise<Deliveries> {
  const state = await change(file, (before) => {
    const waitMs = (before.tested_at ?? 0) + testPauseMs - now();
    if (waitMs > 0 && waitMs <= testPauseMs)
      throw new Fault("alert_test_cooldown", { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
    return { ...before, tested_at: now() };
  });
  const deps = { relay, settings: settings.ops_watchdog, host: settings.server.root_domain, env, now };
  const results = await Promise.all(
    receiversOf(deps, state.recipients).map(async ({ id, test }) => ({
      id,
      error: await test().then(
        () => undefined,
        (error: Error) => error.message.slice(0, 300),
      ),
    })),
  );
  const mails = results.filter(({ id }) => id.startsWith("mail:"));
  const why = relay === undefined ? "no mail relay is configured" : "no owner has a verified address";
  const failed = mails.length === 0 ? why : mails.find(({ error }) => error !== undefined)?.error;
  const channels = settings.ops_watchdog.channels.map(({ name }) => {
    const result = results.find(({ id }) => id === `channel:${name}`);
    return outcome(name, result ? result.error : "the variable with its address is empty");
  });
  return [outcome("mail", failed), ...channels];
}

function outcome(name: string, error: string | undefined): Deliveries[number] {
  return { name, ok: error === undefined, ...(error !== undefined && { error }) };
}

/** Changes the state; a disk that cannot be written is 503. */
async function change(file: StateFile, to: Parameters<StateFile["update"]>[0]) {
  try {
    return (await file.update(to)).state;
  } catch (cause) {
    if ((cause as Error).name !== "StateUnsavableError") throw cause;
    const message = "The watchdog cannot save its state; its log says why.";
    throw new Fault("unavailable", { message, cause });
  }
}

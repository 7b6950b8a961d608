// Who is told: staff by mail, and the channels. Each has what it was sent remembered by itself, so that one
// that fails is tried again and the others hear nothing twice.

import type { Language } from "@svc/proto/language";
import { createRelay, type RelaySettings } from "@svc/smtp";
import type { WatchdogSettings } from "../../config.ts";
import { composeMail, composeTest } from "../compose.ts";
import type { Due } from "../due.ts";
import type { WatchdogState } from "../state.ts";
import { type Channel, channelBody, channelTestBody, sendToChannel } from "./channel.ts";

export type Receiver = {
  /** `mail:<address>` or `channel:<name>`. */
  id: string;
  send: (due: Due) => Promise<void>;
  test: () => Promise<void>;
};

type ReceiverDeps = {
  relay: RelaySettings | undefined;
  settings: WatchdogSettings;
  /** Name of the installation in subjects. */
  host: string;
  env: NodeJS.ProcessEnv;
  now: () => number;
};

export function receiversOf(deps: ReceiverDeps, recipients: WatchdogState["recipients"]): Receiver[] {
  const { relay } = deps;
  const mails = relay ? recipients.map((one) => mailReceiver(deps, relay, one)) : [];
  return [...mails, ...channelsOf(deps).map((channel) => channelReceiver(deps, channel))];
}

function mailReceiver(
  { host }: ReceiverDeps,
  settings: RelaySettings,
  { address, language }: { address: string; language: Language },
): Receiver {
  const relay = createRelay(settings);
  return {
    id: `mail:${address}`,
    send: (due) => relay.send(address, composeMail(due, { host, language })),
    test: () => relay.send(address, composeTest({ host, language })),
  };
}

function channelReceiver({ settings, host, now }: ReceiverDeps, channel: Channel): Receiver {
  const sending = {
    mayBeInternal: settings.channels_may_be_internal,
    withinMs: settings.channel_timeout,
    now,
  };
  return {
    id: `channel:${channel.name}`,
    send: (due) => sendToChannel(channel, channelBody(channel, due, { host, now: now() }), sending),
    test: () => sendToChannel(channel, channelTestBody(channel, { host, now: now() }), sending),
  };
}

/** A channel whose variable is empty is left out: it is not set up here. */
function channelsOf({ settings, env }: Pick<ReceiverDeps, "settings" | "env">): Channel[] {
  return settings.channels.flatMap(({ name, format, url_ref, secret_ref }) => {
    const url = env[url_ref] ?? "";
    return url === ""
      ? []
      : [{ name, format, url, secret: secret_ref === "" ? "" : (env[secret_ref] ?? "") }];
  });
}

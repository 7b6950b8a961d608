import type { Version } from "../version/catalog.ts";
import { bool, byteArray, int, Reader, string, varint } from "../wire/bytes.ts";
import { encodeNbt, nbtInt } from "./nbt.ts";
import { type Click, newClick, type Text, textNbt, textValue } from "./text.ts";

/** Which phase a player is in; the same packet has another id in each. */
export type Phase = "configuration" | "play";

const to = (version: Version, name: string, ...fields: Buffer[]) =>
  Buffer.concat([varint(version.play.toClient.id(name)), ...fields]);

/** Packets to the client as bodies (id and fields) for `Connection.sendBody`, written by hand: no serializer is needed. */
export const packets = {
  /** A line of chat, or with `overlay` the line above the hotbar. */
  message: (version: Version, text: Text, overlay = false): Buffer =>
    to(version, "system_chat", textNbt(text, version), bool(overlay)),

  /** A title with its line below, in ticks (1/20 s). Three packets; send them in order. */
  title: (version: Version, title: Title): Buffer[] => [
    to(
      version,
      "set_title_time",
      int(title.fadeInTicks ?? 10),
      int(title.stayTicks ?? 70),
      int(title.fadeOutTicks ?? 20),
    ),
    to(version, "set_title_subtitle", textNbt(title.subtitle ?? "", version)),
    to(version, "set_title_text", textNbt(title.title, version)),
  ],

  /** Closes the game with a text, in either phase. */
  disconnect: (version: Version, phase: Phase, reason: Text): Buffer =>
    Buffer.concat([
      varint(
        phase === "play"
          ? version.play.toClient.id("kick_disconnect")
          : version.configuration.toClient.id("disconnect"),
      ),
      textNbt(reason, version),
    ]),

  /** Sends the player to another address; the client connects anew with intent 3 and keeps its cookies. */
  transfer: (
    version: Version,
    phase: Phase,
    target: { readonly host: string; readonly port: number },
  ): Buffer =>
    Buffer.concat([varint(version[phase].toClient.id("transfer")), string(target.host), varint(target.port)]),

  /** Leaves up to 5 KiB with the client until it disconnects for good. Not a secret and not to be trusted back unsigned. */
  storeCookie: (
    version: Version,
    phase: Phase,
    cookie: { readonly key: string; readonly value: Buffer },
  ): Buffer =>
    Buffer.concat([
      varint(version[phase].toClient.id("store_cookie")),
      string(cookie.key),
      byteArray(cookie.value),
    ]),

  /** Asks for a cookie; the answer is `cookie_response`. */
  requestCookie: (version: Version, phase: Phase, key: string): Buffer =>
    Buffer.concat([varint(version[phase].toClient.id("cookie_request")), string(key)]),

  /** Takes away what a server left with the client and the client would keep on the next one: packs, links, details. */
  leftBehind: (version: Version): Buffer[] => {
    const { find } = version.configuration.toClient;
    // No pack's id = all of them; an empty list = no links, no details. Versions without a packet have nothing to clear.
    return ["remove_resource_pack", "server_links", "custom_report_details"].flatMap((name) => {
      const id = find(name);
      return id === undefined ? [] : [Buffer.concat([varint(id), Buffer.of(0)])];
    });
  },

  /** A plugin message to the client. */
  pluginMessage: (version: Version, phase: Phase, message: PluginMessage): Buffer =>
    Buffer.concat([
      varint(version[phase].toClient.id("custom_payload")),
      string(message.channel),
      message.data,
    ]),

  /** A plugin message to a server. */
  pluginMessageToServer: (version: Version, phase: Phase, message: PluginMessage): Buffer =>
    Buffer.concat([
      varint(version[phase].toServer.id("custom_payload")),
      string(message.channel),
      message.data,
    ]),

  /** A dialog (1.21.6 and later; earlier versions throw `unsupported`). In play it is inline, behind a zero holder id. */
  dialog: (version: Version, phase: Phase, dialog: Dialog): Buffer =>
    Buffer.concat([
      varint(version[phase].toClient.id("show_dialog")),
      phase === "play" ? varint(0) : Buffer.alloc(0),
      encodeNbt(dialogValue(dialog, version.protocol)),
    ]),

  /** Takes the dialog away. */
  clearDialog: (version: Version, phase: Phase): Buffer => varint(version[phase].toClient.id("clear_dialog")),

  /** Closes an open window. */
  closeWindow: (version: Version, windowId: number): Buffer => to(version, "close_window", varint(windowId)),

  /** Opens the written book in the main hand. */
  openBook: (version: Version): Buffer => to(version, "open_book", varint(0)),

  /** The client answers with the same id. */
  keepAlive: (version: Version, phase: Phase, id: Buffer): Buffer =>
    Buffer.concat([varint(version[phase].toClient.id("keep_alive")), id]),
} as const;

/** A title on the middle of the screen. */
export type Title = {
  readonly title: Text;
  readonly subtitle?: Text;
  readonly fadeInTicks?: number;
  readonly stayTicks?: number;
  readonly fadeOutTicks?: number;
};

/** One plugin message; `data` is everything behind the channel. */
export type PluginMessage = { readonly channel: string; readonly data: Buffer };

/** A dialog of texts and buttons. A button's `id` comes back as `dialogClick`; `click` acts on the client alone. */
export type Dialog = {
  readonly title: Text;
  readonly body: readonly Text[];
  readonly buttons: readonly { readonly label: Text; readonly id?: string; readonly click?: Click }[];
  /** Escape closes it (false). */
  readonly closable?: boolean;
};

function dialogValue(dialog: Dialog, protocol: number) {
  const buttons = dialog.buttons.map((button) => ({
    label: textValue(button.label, protocol),
    width: nbtInt(200),
    action: button.id
      ? { type: "minecraft:custom", id: button.id }
      : button.click && staticAction(button.click),
  }));
  return {
    type: buttons.length > 0 ? "minecraft:multi_action" : "minecraft:notice",
    title: textValue(dialog.title, protocol),
    body: dialog.body.map((text) => ({
      type: "minecraft:plain_message",
      contents: textValue(text, protocol),
      width: nbtInt(300),
    })),
    can_close_with_escape: dialog.closable ?? false,
    pause: false,
    after_action: "none",
    ...(buttons.length > 0 ? { actions: buttons, columns: nbtInt(1) } : {}),
  };
}

function staticAction(click: Click) {
  const { action, ...fields } = newClick(click);
  return { type: `minecraft:${String(action)}`, ...fields };
}

/** The fields of a plugin message. A channel is at most 256 characters. */
export function readPluginMessage(reader: Reader): PluginMessage {
  return { channel: reader.string(256), data: reader.rest() };
}

/** What a client says of itself in `settings`; the rest of the packet is of no interest to a server without a world. */
export const readLocale = (settings: Buffer): string => new Reader(settings).string(16);

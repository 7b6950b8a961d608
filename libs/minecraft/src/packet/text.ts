import type { Version } from "../version/catalog.ts";
import { decodeNbt, encodeNbt, type NbtValue } from "./nbt.ts";

/** What a click on a text does. `copy` and `open` ask the player first, `run` needs no slash on any version. */
export type Click =
  | { readonly open: string }
  | { readonly copy: string }
  | { readonly run: string }
  | { readonly suggest: string };

/** A text for a player. A plain string is a text without style; section signs are removed from it. */
export type Text = string | TextPart;
/** A styled text. `translate` names a text of the client's own language, with `with` filled in. */
type TextPart = {
  readonly text?: string;
  readonly translate?: string;
  readonly with?: readonly Text[];
  readonly color?: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underlined?: boolean;
  readonly click?: Click;
  readonly hover?: Text;
  readonly extra?: readonly Text[];
};

type Fields = { [key: string]: NbtValue | undefined };

/** A text as packets of play and configuration carry it. */
export const textNbt = (text: Text, version: Version): Buffer => encodeNbt(textValue(text, version.protocol));

/** A text as the login phase and the server list carry it. */
export const textJson = (text: Text): string => JSON.stringify(textValue(text, 0));

/** The same as a value, to be put inside a larger one. Click and hover were renamed in 1.21.5 (protocol 770). */
export function textValue(text: Text, protocol: number): Fields {
  const part = typeof text === "string" ? { text: text.replaceAll(/§./gu, "") } : text;
  const nested = (texts: readonly Text[] | undefined) => texts?.map((one) => textValue(one, protocol));
  const hover = part.hover === undefined ? undefined : textValue(part.hover, protocol);
  const fields: Fields = {
    text: part.translate === undefined ? (part.text ?? "") : undefined,
    translate: part.translate,
    with: nested(part.with),
    color: part.color,
    bold: part.bold,
    italic: part.italic,
    underlined: part.underlined,
    extra: part.extra?.length ? nested(part.extra) : undefined,
  };
  if (protocol >= 770) {
    fields["click_event"] = part.click && newClick(part.click);
    fields["hover_event"] = hover && { action: "show_text", value: hover };
  } else {
    fields["clickEvent"] = part.click && oldClick(part.click);
    fields["hoverEvent"] = hover && { action: "show_text", contents: hover };
  }
  return fields;
}

function oldClick(click: Click): Fields {
  if ("open" in click) return { action: "open_url", value: click.open };
  if ("copy" in click) return { action: "copy_to_clipboard", value: click.copy };
  if ("run" in click) return { action: "run_command", value: `/${click.run.replace(/^\//, "")}` };
  return { action: "suggest_command", value: click.suggest };
}

/** The click as 1.21.5 and later write it, in texts and in the buttons of dialogs. */
export function newClick(click: Click): Fields {
  if ("open" in click) return { action: "open_url", url: click.open };
  if ("copy" in click) return { action: "copy_to_clipboard", value: click.copy };
  if ("run" in click) return { action: "run_command", command: `/${click.run.replace(/^\//, "")}` };
  return { action: "suggest_command", command: click.suggest };
}

/** Another server's text (NBT of play and configuration), so that it can be shown again: words and colours, no clicks. */
export const readTextNbt = (bytes: Buffer): Text => sanitize(decodeNbt(bytes), 0);

/** Another server's text of the login phase. What is not JSON is taken as the text itself. */
export function readTextJson(json: string): Text {
  try {
    return sanitize(JSON.parse(json), 0);
  } catch {
    return json;
  }
}

const maxDepth = 16;

function sanitize(value: unknown, depth: number): Text {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value ?? "");
  if (depth > maxDepth) return "";
  const nested = (list: unknown) =>
    Array.isArray(list) ? list.slice(0, 64).map((one) => sanitize(one, depth + 1)) : undefined;
  if (Array.isArray(value)) return { text: "", extra: nested(value) ?? [] };
  const from = value as Record<string, unknown>;
  const words = (key: string) => (typeof from[key] === "string" ? from[key] : undefined);
  return Object.fromEntries(
    Object.entries({
      text: words("text") ?? words(""),
      translate: words("translate"),
      with: nested(from["with"]),
      color: words("color"),
      bold: from["bold"] === undefined ? undefined : Boolean(from["bold"]),
      extra: nested(from["extra"]),
    }).filter(([, field]) => field !== undefined),
  ) as TextPart;
}

/** A text without style, for logs and conditions; translated texts are their key and what is filled in. */
export function plainText(text: Text): string {
  if (typeof text === "string") return text;
  const own = text.translate ?? text.text ?? "";
  const filled = (text.with ?? []).map(plainText).join(" ");
  return [own, filled && ` ${filled}`, ...(text.extra ?? []).map(plainText)].join("");
}

// Files as text: what can be edited, and how text becomes bytes again without a change that nobody made.

import type { TextLanguage } from "../ui/text-editor.tsx";

/** Larger files are only shown, and those above 1 MiB only downloaded (docs/reference/files.md#operations). */
export const editableBytes = 256 * 1_024;

export type LineBreak = "\n" | "\r\n";

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

const chunk = 32_768;

export function base64OfBytes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += chunk)
    text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(text);
}

/** The text of a file; undefined when it is none. A byte order mark stays part of it. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** How the lines of a text end; where both ways are mixed nothing may be changed, so the shorter one is taken. */
export function lineBreakOf(text: string): LineBreak {
  const all = text.match(/\n/g)?.length ?? 0;
  const long = text.match(/\r\n/g)?.length ?? 0;
  return all > 0 && all === long ? "\r\n" : "\n";
}

const languages: Readonly<Record<string, TextLanguage>> = {
  json: "json",
  json5: "json",
  mcmeta: "json",
  yml: "yaml",
  yaml: "yaml",
  toml: "toml",
  properties: "properties",
  conf: "properties",
  cfg: "properties",
  ini: "properties",
  sh: "shell",
};

export function languageOfFile(name: string): TextLanguage {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(languages, extension) ? (languages[extension] ?? "plain") : "plain";
}

export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Settings that come as text one by one: environment variables, and the keys of a file of `key=value` lines.

import { z } from "zod";
import { ConfigError } from "./load.ts";
import { parsed } from "./values.ts";

type Settings = Readonly<Record<string, z.ZodType>>;
type Values<S extends Settings> = { readonly [Name in keyof S]: z.output<S[Name]> };

/**
 * Reads each setting with `read`; blank counts as unset. A bad value is reported and its default used; without `report`
 * it is thrown as a `ConfigError`.
 */
export function readVariables<S extends Settings>(
  settings: S,
  read: (name: string) => string | undefined,
  report?: (problem: { name: string; message: string }) => void,
): Values<S> {
  const entries = Object.entries(settings).map(([name, type]) => {
    const result = type.safeParse(read(name)?.trim() || undefined);
    if (result.success) return [name, result.data];
    const message = result.error.issues[0]?.message ?? "is not valid";
    if (!report) throw new ConfigError(`${name} ${message}`);
    report({ name, message });
    return [name, type.parse(undefined)];
  });
  return Object.fromEntries(entries) as Values<S>;
}

/** Text; "" unless there is a fallback. */
export const text = (fallback = "") => z.string().default(fallback);

/** Digits. */
export function wholeNumber({ min, max, fallback }: { min: number; max: number; fallback: number }) {
  const parse = (digits: string) => {
    const value = Number(digits);
    return /^\d+$/.test(digits) && value >= min && value <= max ? value : undefined;
  };
  return parsed(parse, `a whole number from ${min} to ${max}`).default(fallback);
}

/** `true` or `false`. */
export function flag(fallback: boolean) {
  const parse = (word: string) => (word === "true" || word === "false" ? word === "true" : undefined);
  return parsed(parse, "true or false").default(fallback);
}

/** An address such as `http://host:port`, without slashes at its end. */
export function httpUrl() {
  const parse = (url: string) =>
    URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url.replace(/\/+$/, "") : undefined;
  return parsed(parse, "a URL such as http://host:port");
}

// Removes secrets from text that is kept or leaves the machine. Known secrets are replaced wherever they stand; whatever looks like a secret or
// names a person is replaced as well, since nobody knows every secret of a machine.

const hidden = "[secret]";

/** Shorter values are words that stand everywhere. */
const shortestSecret = 6;

const secretKey =
  /(?:password|passwd|passphrase|secret|token|cookie|authorization|credentials?|(?:api|private|access)[_-]?key)$/i;
const codeKey = /(?:^|_)(?:code|pin|otp)$/i;
const looksLikeCode = /^(?:\d{4,10}|[A-Z0-9]{8})$/;

/** Returns a function that removes these secrets, and everything that looks like one, from a text. */
export function createRedact(secrets: Iterable<string>): (text: string) => string {
  const hideKnown = createHideKnown(secrets);
  return (text) => hideKnown(text).split("\n").map(redactLine).join("\n").replaceAll(pem, hidden);
}

/**
 * Returns a function that removes these secrets, and what a line itself calls a secret, for readers who may see the rest:
 * addresses, names and paths stay.
 */
export function createHideSecrets(secrets: Iterable<string>): (line: string) => string {
  const hideKnown = createHideKnown(secrets);
  return (line) => hideNamed(hideKnown(line));
}

function createHideKnown(secrets: Iterable<string>): (text: string) => string {
  const forms = [...secrets].filter((secret) => secret.length >= shortestSecret).flatMap(formsOf);
  const known = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => known.reduce((left, form) => left.replaceAll(form, hidden), text);
}

/** As it is, in a URL, in JSON and in a Basic header. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64").replace("=", "").replace("=", "");
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64];
}

function redactLine(line: string): string {
  const value = line.startsWith("{") ? parsed(line) : undefined;
  return redactText(value === undefined ? line : JSON.stringify(redactValue(value)));
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Replaces the values of keys that name a secret, at every depth. */
function redactValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, hasSecret(key, inner) ? hidden : redactValue(inner)]),
  );
}

function hasSecret(key: string, value: unknown): boolean {
  if (value === null || value === "" || typeof value === "boolean") return false;
  return secretKey.test(key) || (codeKey.test(key) && looksLikeCode.test(String(value)));
}

/** One that is encrypted has headers with dashes. */
const pem = /-----BEGIN [A-Z ]{1,40}-----(?:[^-]|-(?!----)){0,20000}-----END [A-Z ]{1,40}-----/g;
const url = /\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s"'<>\\`]{1,2000}/gi;
const assignment =
  /((?:password|passwd|passphrase|secret|token|cookie|authorization|credentials?|(?:api|private|access)[_-]?key)\\?["']?\s{0,3}[:=]\s{0,3})(?!null\b|true\b|false\b)(\\{0,3}["']|)((?<=")[^"\n]{0,2000}"|(?<=')[^'\n]{0,2000}'|[^\s,;&"'}\]]{1,2000})/gi;
const scheme = /\b(bearer|basic)\s{1,3}[^\s"',;]{1,2000}/gi;
const session = /\b(svc_session\w{0,20}=)[^\s"',;]{1,2000}/gi;
const code = /\b((?:code|pin|otp)\b[^\d\n]{0,20})\d{4,10}\b/gi;
const email = /[\p{L}\p{N}._%+-]{1,64}@([\p{L}\p{N}.-]{1,253})/gu;
const run = /[A-Za-z0-9_-]{24,}/g;
/** Standard base64, as of keys of S3; a path begins with a slash or has other characters in it. */
const base64 = /(?<![\w/+.:-])[A-Za-z0-9+][A-Za-z0-9+/]{38,}={0,2}(?![\w/+.-])/g;

function redactText(line: string): string {
  return hideNamed(line.replaceAll(url, (text) => redactUrl(text)))
    .replaceAll(code, (_, start: string) => `${start}${hidden}`)
    .replaceAll(email, (text, domain: string) => (domain.includes(".") ? "[e-mail]" : text))
    .replaceAll(base64, (text) => (isRandom(text, "sha256:") ? hidden : text))
    .replaceAll(run, (text, at: number, whole: string) =>
      isRandom(text, whole.slice(0, at)) ? hidden : text,
    );
}

/** What follows a word for a secret. */
function hideNamed(line: string): string {
  return line
    .replaceAll(scheme, (_, kind: string) => `${kind} ${hidden}`)
    .replaceAll(session, (_, name: string) => `${name}${hidden}`)
    .replaceAll(assignment, (_, start: string, quote: string) => `${start}${quote}${hidden}${quote}`);
}

/** A URL without its password and its query; of another machine only the host, for a path may be the secret. */
function redactUrl(text: string): string {
  if (!URL.canParse(text)) return text.includes("@") || text.includes("?") ? "[url]" : text;
  const { protocol, username, password, host, hostname, pathname, search } = new URL(text);
  const user = username || password ? `${hidden}@` : "";
  const isOwn =
    /^(?:127\.|10\.|192\.168\.|localhost$|\[::1\]$)/.test(hostname) || hostname.endsWith(".localhost");
  const path = isOwn || pathname.length <= 1 ? pathname : "/[path]";
  return `${protocol}//${user}${host}${path}${search ? "?[query]" : ""}`;
}

/** Keys and tokens have letters of both cases and digits, or are long hexadecimal; digests of images are public. */
function isRandom(text: string, before: string): boolean {
  if (/[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text)) return true;
  return text.length >= 32 && /^[0-9a-f]+$/i.test(text) && !before.endsWith("sha256:");
}

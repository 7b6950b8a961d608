const browsers = [
  ["Firefox", /Firefox\//],
  ["Edge", /Edg\//],
  ["Chrome", /Chrome\//],
  ["Safari", /Safari\//],
] as const;
const systems = [
  ["Android", /Android/],
  ["iPhone", /iPhone/],
  ["iPad", /iPad/],
  ["Windows", /Windows/],
  ["Mac", /Macintosh/],
  ["Linux", /Linux/],
] as const;

/** "Chrome, Linux", or "svc, nas" for a command line: a name by which a person finds a passkey or a session again. */
export function deviceName(userAgent: string): string {
  const [, machine] = /^svc\/\S+ \(([\w.-]+)\)$/.exec(userAgent) ?? [];
  if (machine !== undefined) return `svc, ${machine}`;
  const found = [browsers, systems].flatMap((list) => {
    const entry = list.find(([, pattern]) => pattern.test(userAgent));
    return entry ? [entry[0]] : [];
  });
  return found.join(", ");
}

import { domainToASCII } from "node:url";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are among what is refused
const unplain = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029"(),:;<>[\\\]]/;

/** Whether an address is one mailbox, without characters that a mail program could parse as several or as syntax. */
export function isPlainAddress(address: string): boolean {
  return !unplain.test(address) && /^[^@]+@[^@]+$/.test(address);
}

/** An address as SMTP expects it: its domain in ASCII. `needsUtf8`: the part before the @ is beyond ASCII. */
export function wireAddress(address: string): { address: string; needsUtf8: boolean } {
  const at = address.lastIndexOf("@");
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the range of ASCII
  return { address: `${local}@${domainToASCII(domain) || domain}`, needsUtf8: !/^[\x00-\x7f]*$/.test(local) };
}

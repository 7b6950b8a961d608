/** Whether two addresses reach the same mailbox as far as this service distinguishes them. */
export function isSameAddress(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.toLowerCase() === other.toLowerCase();
}

/** `notch@example.com` as `n***@e***.com`: enough to recognize one's own address, too little to learn another's. */
export function maskAddress(address: string): string {
  const [local = "", domain = ""] = address.split("@");
  const labels = domain.split(".");
  const end = labels.length > 1 ? `.${labels.at(-1)}` : "";
  return `${local.slice(0, 1)}***@${domain.slice(0, 1)}***${end}`;
}

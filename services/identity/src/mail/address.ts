/** Characters that would make a mail program read one address as several, or as something else. */
export function isPlainAddress(address: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are among what is refused
  return !/[\u0000-\u0020\u007f"(),:;<>[\\\]]/.test(address);
}

/** A sentence of the service, in which commands stand between backquotes. */
export function TextWithCode({ text }: { text: string }) {
  return text.split("`").map((part, at) => {
    const key = `${at}`;
    return at % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
  });
}

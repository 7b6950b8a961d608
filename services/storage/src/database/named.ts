const name = Symbol("name of a transaction");

/** Names the work of a transaction, so that tests can stop the process before it. */
export function named<W extends object>(what: string, work: W): W {
  return Object.assign(work, { [name]: what });
}

export function nameOf(work: object): string | undefined {
  return (work as { [name]?: string })[name];
}

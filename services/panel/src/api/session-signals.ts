// What any request may find out about the session, for the app to act on.

type Listener = {
  /** The session is over: everything that was typed stays, under a dialog. */
  sessionEnded: () => void;
  /** The account has to finish its setup first. */
  setupRequired: () => void;
  /** Asks the person to prove who they are; false when they don't. */
  requestProof: () => Promise<boolean>;
};

let listener: Listener | undefined;
let proof: Promise<boolean> | undefined;

export const sessionSignals = {
  listen: (next: Listener): (() => void) => {
    listener = next;
    return () => {
      if (listener === next) listener = undefined;
    };
  },
  sessionEnded: () => listener?.sessionEnded(),
  setupRequired: () => listener?.setupRequired(),
  /** One question at a time: requests that are refused meanwhile wait for the same answer. */
  requestProof: (): Promise<boolean> => {
    proof ??= (listener?.requestProof() ?? Promise.resolve(false)).finally(() => {
      proof = undefined;
    });
    return proof;
  },
};

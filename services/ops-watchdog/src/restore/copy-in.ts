// COPY … FROM STDIN from a stream of bytes.

import type pg from "pg";

type Connection = {
  stream: NodeJS.WritableStream & { writableNeedDrain: boolean; destroyed: boolean };
  query: (text: string) => void;
  sendCopyFromChunk: (chunk: Buffer) => void;
  endCopyFrom: () => void;
  sendCopyFail: (message: string) => void;
};

/** Resolves with the rows that the server stored; when `source` fails the server forgets all of them. */
export function copyIn(client: pg.Client, text: string, source: AsyncIterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let rows: number | undefined;
    let cause: unknown;
    const send = async (connection: Connection) => {
      try {
        for await (const chunk of source) {
          if (isOver) return;
          connection.sendCopyFromChunk(chunk);
          if (connection.stream.writableNeedDrain) await drained(connection.stream);
        }
        connection.endCopyFrom();
      } catch (error) {
        cause = error;
        if (!isOver) connection.sendCopyFail("the bundle cannot be read");
      }
    };
    const query = {
      submit: (connection: Connection) => connection.query(text),
      handleCopyInResponse: (connection: Connection) => void send(connection),
      handleError: (error: Error) => {
        isOver = true;
        reject(cause ?? error);
      },
      handleCommandComplete: ({ text: tag }: { text: string }) => {
        rows = Number(/^COPY (\d+)$/.exec(tag)?.[1]);
      },
      handleReadyForQuery: () => {
        isOver = true;
        if (rows === undefined) reject(cause ?? new Error("the COPY did not end"));
        else resolve(rows);
      },
    };
    client.query(query as unknown as pg.Submittable);
  });
}

/** Also when the connection ends, so that nobody waits for it. */
function drained(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      for (const event of ["drain", "close", "error"]) stream.removeListener(event, end);
      resolve();
    };
    for (const event of ["drain", "close", "error"]) stream.once(event, end);
  });
}

// Sending bytes. XMLHttpRequest, because fetch does not say how far a body has got.

import { note } from "./call.ts";
import { errorOf, offlineError } from "./error.ts";
import type { Input, OperationName, Output } from "./operations.ts";
import { rowOf } from "./operations.ts";
import { buildRequest } from "./request.ts";

type SendOptions = { body: Blob; signal: AbortSignal; onProgress: (bytes: number) => void };

/** Calls an operation whose body is bytes. A refusal throws an `ApiError`; an abort throws the signal's reason. */
export async function sendBytes<Name extends OperationName>(
  name: Name,
  input: Omit<Input<Name>, "content_length">,
  options: SendOptions,
): Promise<Output<Name>> {
  const { method, path, headers } = buildRequest(rowOf(name), { ...input });
  const response = await transfer({ method, path, headers }, options);
  if (!response.ok) throw note(name, await errorOf(response));
  return (await response.json().catch(() => {
    throw offlineError();
  })) as Output<Name>;
}

type Head = { method: string; path: string; headers: Readonly<Record<string, string>> };

function transfer({ method, path, headers }: Head, { body, signal, onProgress }: SendOptions) {
  return new Promise<Response>((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.open(method, path);
    request.setRequestHeader("content-type", "application/octet-stream");
    for (const [field, value] of Object.entries(headers)) request.setRequestHeader(field, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(offlineError());
    request.onabort = () => reject(signal.reason);
    request.onloadend = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    request.send(body);
  });
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const field of ["retry-after", "x-request-id"]) {
    const value = request.getResponseHeader(field);
    if (value !== null) headers.set(field, value);
  }
  return new Response(request.responseText, { status: request.status, headers });
}

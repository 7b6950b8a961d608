import { useEffect, useRef } from "react";
import type { ApiError } from "./error.ts";

type Asked = { data: unknown; error: ApiError | null };

/**
 * The answer that there is none of what `key` names; it stands while it is asked again. A query without data has no error
 * meanwhile, so what stands on that answer would go and come back.
 */
export function useMissing(key: string, { data, error }: Asked): ApiError | null {
  const missing = useRef<{ key: string; error: ApiError }>(undefined);
  useEffect(() => {
    if (error?.code === "not_found") missing.current = { key, error };
    else if (data) missing.current = undefined;
  }, [key, data, error]);
  if (error) return error.code === "not_found" ? error : null;
  return !data && missing.current?.key === key ? missing.current.error : null;
}

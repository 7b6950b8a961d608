import { CatchBoundary } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";

type Missing = {
  /** It could not be fetched, or failed: whoever wanted it takes it away and says so. */
  onMissing?: () => void;
};

/**
 * A part of the panel that is fetched when it is first wanted. One that is not there, as without a network, leaves the page with what
 * was typed alone, and is fetched again the next time.
 */
export function createPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props & Missing> {
  const attempt = () => lazy(async () => ({ default: await load() }));
  let newest = attempt();
  // biome-ignore lint/correctness/noComponentHookFactories: made once for each part, when its module is loaded
  return function Part({ onMissing, ...rest }: Props & Missing) {
    const Loaded: ComponentType<Props> = newest;
    const renew = () => {
      newest = attempt();
      onMissing?.();
    };
    return (
      <CatchBoundary getResetKey={() => "part"} onCatch={renew} errorComponent={Nothing}>
        <Suspense>
          <Loaded {...(rest as unknown as Props)} />
        </Suspense>
      </CatchBoundary>
    );
  };
}

function Nothing() {
  return null;
}

import type { Mesh } from "@svc/mesh";
import { type serverTemplates as contracts, images, isFault } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";

/** Questions to builds at the same time, each of which may ask the registry. */
const questions = 8;
const questionMs = 5_000;

/** Which images servers can't have now, and why. Never rejects: what can't be asked is `image_unchecked`. */
export async function checkImages(
  mesh: Pick<Mesh, "call">,
  context: NonNullable<Parameters<Mesh["call"]>[2]>,
  refs: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, contracts.ImageProblem>> {
  const asking = createSemaphore(questions);
  const deadlineAt = Date.now() + questionMs;
  const named = [...new Set(refs.filter((ref) => ref !== undefined))];
  const problems = await Promise.all(
    named.map((image_ref) =>
      asking.run(async () => {
        try {
          await mesh.call(images.admitImage, { image_ref }, { ...context, deadlineAt });
          return [];
        } catch (error) {
          return [[image_ref, problemOf(error)] as const];
        }
      }),
    ),
  );
  return new Map(problems.flat());
}

function problemOf(error: unknown): contracts.ImageProblem {
  const fault = isFault(error) ? error.fault : undefined;
  switch (fault) {
    case "image_not_whitelisted":
    case "image_not_in_registry":
    case "image_without_provenance":
      return fault;
    default:
      return "image_unchecked";
  }
}

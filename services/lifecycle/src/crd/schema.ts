import { z } from "zod";

type Schema = Record<string, unknown>;

// The only keywords of a zod schema that a structural schema of Kubernetes takes over as they are.
const kept = new Set(["type", "enum", "minLength", "maxLength", "description", "required"]);

const int32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 };

/**
 * The structural OpenAPI v3 schema of a zod object: `int32` and `int64` formats, `date-time` strings, maps as
 * `additionalProperties`, nothing that Kubernetes refuses.
 */
export function structuralSchema(model: z.ZodType): Schema {
  return convert(z.toJSONSchema(model, { io: "input", unrepresentable: "throw" }) as Schema);
}

function convert(schema: Schema): Schema {
  const result: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (kept.has(key) || key.startsWith("x-kubernetes-")) result[key] = value;
  }
  if (schema["type"] === "integer") Object.assign(result, integerBounds(schema));
  if (schema["format"] === "date-time") result["format"] = "date-time";
  if (schema["properties"]) result["properties"] = mapValues(schema["properties"] as Record<string, Schema>);
  if (schema["items"]) result["items"] = convert(schema["items"] as Schema);
  const rest = schema["additionalProperties"];
  if (typeof rest === "object" && rest !== null && !schema["properties"]) {
    result["additionalProperties"] = convert(rest as Schema);
  }
  return result;
}

// zod writes the bounds of the number type itself; as a format they say the same in one word.
function integerBounds(schema: Schema): Schema {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  const fits = (bound: number | undefined) =>
    bound !== undefined && bound >= int32.minimum && bound <= int32.maximum;
  const isInt32 = fits(minimum) && fits(maximum);
  const isOwn = (bound: number | undefined) =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER && !Object.values(int32).includes(bound);
  const bounds: Schema = { format: isInt32 ? "int32" : "int64" };
  if (isOwn(minimum)) bounds["minimum"] = minimum;
  if (isOwn(maximum)) bounds["maximum"] = maximum;
  return bounds;
}

function mapValues(properties: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, convert(schema)]));
}

// Writes src/apiserver/schema/builtin-types.json: the fields and field types of the built-in kinds, taken from
// the models of @kubernetes/client-node. Run it by hand when that package is raised.
import { writeFileSync } from "node:fs";
import * as models from "@kubernetes/client-node";

type Attribute = { baseName: string; type: string; format: string };
type Model = { getAttributeTypeMap?: () => Attribute[] };

const roots = [
  "V1Namespace",
  "V1Pod",
  "V1Service",
  "V1Secret",
  "V1ConfigMap",
  "V1PersistentVolumeClaim",
  "V1PersistentVolume",
  "V1Node",
  "CoreV1Event",
  "V1Endpoints",
  "V1ServiceAccount",
  "V1StatefulSet",
  "V1Deployment",
  "V1ReplicaSet",
  "V1Job",
  "V1Lease",
  "V1NetworkPolicy",
  "V1Role",
  "V1RoleBinding",
  "V1ClusterRole",
  "V1ClusterRoleBinding",
  "V1StorageClass",
];
const quantityMaps = new Set([
  "limits",
  "requests",
  "capacity",
  "allocatable",
  "allocatedResources",
  "overhead",
]);
const quantities = new Set(["sizeLimit", "divisor"]);
const opaque = new Set(["V1CustomResourceDefinition", "V1JSONSchemaProps"]);

function encode(attribute: Attribute): string {
  const { baseName, type, format } = attribute;
  if (quantityMaps.has(baseName) && type.startsWith("{")) return "{}quantity";
  if (quantities.has(baseName) && type === "string") return "quantity";
  return encodeType(type, format);
}

function encodeType(type: string, format: string): string {
  const list = /^(?:Array|Set)<(.*)>$/.exec(type);
  if (list?.[1]) return `[]${encodeType(list[1], format)}`;
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map?.[1]) return `{}${encodeType(map[1], format)}`;
  if (type === "string") return format === "byte" ? "bytes" : "string";
  if (type === "number") return format.startsWith("int") ? "int" : "number";
  if (type === "Date" || type === "V1MicroTime") return "time";
  if (type === "IntOrString") return "intOrString";
  if (type === "boolean" || type === "any" || type === "object") return type === "object" ? "any" : type;
  return opaque.has(type) ? "any" : type;
}

const table: Record<string, Record<string, string>> = {};
function visit(name: string): void {
  if (table[name]) return;
  const model = (models as unknown as Record<string, Model>)[name];
  const attributes = model?.getAttributeTypeMap?.();
  if (!attributes) throw new Error(`no model ${name} in @kubernetes/client-node`);
  const fields: Record<string, string> = {};
  table[name] = fields;
  for (const attribute of attributes) {
    const encoded = encode(attribute);
    fields[attribute.baseName] = encoded;
    const inner = encoded.replace(/^(\[\]|\{\})+/, "");
    if (/^[A-Z]/.test(inner)) visit(inner);
  }
}
for (const root of roots) visit(root);
const file = new URL("../src/apiserver/schema/builtin-types.json", import.meta.url);
const sorted = Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(sorted, undefined, 2)}\n`);

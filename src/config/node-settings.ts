// Settings that reach a node's programs as they are: `settings` of cluster.yaml and of bootstrap.yaml, one schema for both.
import { z } from 'zod';
import { checkNameProblem } from '../lib/check-names.ts';
import type { TomlTable, TomlValue } from '../lib/toml.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [field: string]: JsonValue };
export type JsonObject = { readonly [field: string]: JsonValue };

const jsonValue: z.ZodType<JsonValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(jsonValue), z.record(z.string(), jsonValue)]),
);
const jsonObject = z.record(z.string(), jsonValue);
const tomlValue: z.ZodType<TomlValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(tomlValue), z.record(z.string(), tomlValue)]),
);

export interface NodeSettings {
  /** Fields of KubeletConfiguration. */
  readonly kubelet: JsonObject;
  /** Fields of KubeProxyConfiguration. */
  readonly kubeProxy: JsonObject;
  /** Merged into containerd's config.toml. */
  readonly containerd: TomlTable;
  readonly kubeadm: { readonly ignorePreflightErrors: readonly string[] };
  /** Names of bke's own checks. */
  readonly ignoreChecks: readonly string[];
}

export const noNodeSettings: NodeSettings = {
  kubelet: {},
  kubeProxy: {},
  containerd: {},
  kubeadm: { ignorePreflightErrors: [] },
  ignoreChecks: [],
};

/** A misspelt name must not look obeyed. */
const checkName = z.string().superRefine((name, context) => {
  const message = checkNameProblem(name);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** As a file has it: everything may be absent. */
export const nodeSettingsFile = z.strictObject({
  kubelet: jsonObject.optional(),
  kubeProxy: jsonObject.optional(),
  containerd: z.record(z.string(), tomlValue).optional(),
  kubeadm: z.strictObject({ ignorePreflightErrors: z.array(z.string()).optional() }).optional(),
  ignoreChecks: z.array(checkName).optional(),
});

/** As a record has it: all of it is there. */
export const nodeSettingsRecord: z.ZodType<NodeSettings> = nodeSettingsFile.required().extend({
  kubeadm: z.strictObject({ ignorePreflightErrors: z.array(z.string()) }),
  // Another bke may have had other checks.
  ignoreChecks: z.array(z.string()),
});

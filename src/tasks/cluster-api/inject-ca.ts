// Objects through which the API server calls webhooks, and the CA bundle they must have.
import { z } from 'zod';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt } from '../../kube/fields.ts';

/** Label and value of every object whose CA bundle is the management CA. */
export const injectCa = { label: 'bke.io/inject-ca', value: 'management' } as const;

const clientConfig = z.looseObject({ caBundle: z.string().optional() });
const webhookConfiguration = z.looseObject({
  webhooks: z.array(z.looseObject({ name: z.string(), clientConfig })).default([]),
});
const conversion = z.looseObject({
  spec: z.looseObject({
    conversion: z
      .looseObject({ webhook: z.looseObject({ clientConfig: clientConfig.optional() }).optional() })
      .optional(),
  }),
});

/** Kinds that can name a CA. */
export const injectedKinds = [
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
] as const;

interface CaPlace {
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  readonly caBundle: string | undefined;
  /** Of the webhook, where the pointer counts webhooks: proves that it is still the same one. */
  readonly name?: { readonly pointer: string; readonly value: string };
}

/** Where an object names a CA; empty where it calls no webhook. */
export function caPlaces(object: KubeObject): readonly CaPlace[] {
  if (object.kind === 'CustomResourceDefinition') {
    const config = conversion.parse(object).spec.conversion?.webhook?.clientConfig;
    const pointer = '/spec/conversion/webhook/clientConfig/caBundle';
    return config === undefined ? [] : [{ pointer, caBundle: config.caBundle }];
  }
  if (!injectedKinds.some(({ kind }) => kind === object.kind)) return [];
  return webhookConfiguration.parse(object).webhooks.map(({ name, clientConfig: { caBundle } }, index) => ({
    pointer: `/webhooks/${index}/clientConfig/caBundle`,
    caBundle,
    name: { pointer: `/webhooks/${index}/name`, value: name },
  }));
}

/** The object with that CA (base64 of PEM) in all its places. */
export function withCaBundle(object: KubeObject, caBundle: string): KubeObject {
  const copy = structuredClone(object);
  for (const { pointer } of caPlaces(object)) {
    const config = fieldAt(copy, ...pointer.split('/').slice(1, -1));
    if (typeof config === 'object' && config !== null) Reflect.set(config, 'caBundle', caBundle);
  }
  return copy;
}

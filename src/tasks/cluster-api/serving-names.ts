// Names under which the API server reaches a webhook's Service.

export function servingNames({ namespace, service }: { namespace: string; service: string }): readonly string[] {
  return [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
}

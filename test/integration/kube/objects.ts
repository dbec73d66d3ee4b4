// Objects that tests apply: a kind of their own, and one of each kind that manifests have.
import type { KubeObject } from '../../../src/kube/client.ts';
import { parseManifests } from '../../../src/kube/manifests.ts';

export function widgetDefinition(plural: string): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.test.bke.io` },
    spec: {
      group: 'test.bke.io',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: { plural: { type: 'string' }, size: { type: 'integer', default: 3 } },
                },
              },
            },
          },
        },
      ],
    },
  };
}

/** With values that the server rewrites: quantities, defaults, stringData, an octal mode. */
export function everyKind(namespace: string): KubeObject[] {
  return [...parseManifests(manifest.replaceAll('NAMESPACE', namespace)), widgetDefinition('widgets')];
}

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: NAMESPACE, name: manager}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAMESPACE-manager, labels: {aggregate-to: NAMESPACE}}
rules:
- {apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAMESPACE-aggregated}
aggregationRule:
  clusterRoleSelectors:
  - matchLabels: {aggregate-to: NAMESPACE}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAMESPACE-manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAMESPACE-manager}
subjects:
- {kind: ServiceAccount, name: manager, namespace: NAMESPACE}
---
apiVersion: v1
kind: Secret
metadata: {namespace: NAMESPACE, name: a}
stringData: {password: open sesame}
---
apiVersion: v1
kind: Service
metadata: {namespace: NAMESPACE, name: webhook}
spec:
  selector: {app: manager}
  ports:
  - {port: 443, targetPort: webhook}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: NAMESPACE, name: manager}
spec:
  selector: {matchLabels: {app: manager}}
  template:
    metadata: {labels: {app: manager}}
    spec:
      serviceAccountName: manager
      containers:
      - name: manager
        image: example.com/manager:v1
        resources: {requests: {cpu: 0.1, memory: 1024Ki}}
        volumeMounts:
        - {name: secret, mountPath: /secret}
      volumes:
      - name: secret
        secret: {secretName: a, defaultMode: 0644}
---
apiVersion: test.bke.io/v1
kind: Widget
metadata: {namespace: NAMESPACE, name: w}
spec: {plural: "yes"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAMESPACE}
webhooks:
- name: widgets.bke.test
  clientConfig: {service: {namespace: NAMESPACE, name: webhook}}
  rules:
  - {apiGroups: [test.bke.io], apiVersions: [v1], operations: [DELETE], resources: [widgets]}
  sideEffects: None
  admissionReviewVersions: [v1]
`;

// The CustomResourceDefinitions of bke, made from the schemas of its kinds; assets/crds/ has them as files (scripts/generate-crds.ts).
import type { z } from 'zod';
import { bkeCluster, bkeClusterTemplate } from '../kinds/bke-cluster.ts';
import { bkeHost } from '../kinds/bke-host.ts';
import { bkeMachine, bkeMachineTemplate } from '../kinds/bke-machine.ts';
import { bkeOperation } from '../kinds/bke-operation.ts';
import { apiVersionName, bkeGroup, infrastructureGroup } from '../kinds/common.ts';
import { hostCommand } from '../kinds/host-command.ts';
import { structuralSchema } from './structural.ts';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** 1: with -o wide only. */
  readonly priority?: 1;
}

interface Definition {
  readonly group: string;
  readonly kind: string;
  /** What `kubectl explain` says first. */
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly columns: readonly PrinterColumn[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** That this version of ours speaks contract v1beta2 of Cluster API. */
const contract = { 'cluster.x-k8s.io/v1beta2': apiVersionName };
/** clusterctl looks at kinds with it, … */
const inventory = { 'clusterctl.cluster.x-k8s.io': '' };
/** … and moves objects of a kind with this one, owned by a cluster or not, with what they own. */
const moved = { ...inventory, 'clusterctl.cluster.x-k8s.io/move-hierarchy': '' };

const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const cluster: PrinterColumn = {
  name: 'Cluster',
  type: 'string',
  jsonPath: String.raw`.metadata.labels.cluster\.x-k8s\.io/cluster-name`,
};
const ready: PrinterColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
};
const reason: PrinterColumn = {
  name: 'Reason',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  priority: 1,
};

const definitions: readonly Definition[] = [
  {
    group: infrastructureGroup,
    kind: 'BKECluster',
    description: 'What a cluster needs besides Kubernetes itself.',
    schema: bkeCluster,
    columns: [
      { name: 'State', type: 'string', jsonPath: '.status.state.name' },
      { name: 'Since', type: 'date', jsonPath: '.status.state.since' },
      { name: 'Endpoint', type: 'string', jsonPath: '.spec.controlPlaneEndpoint.host' },
      { name: 'Reason', type: 'string', jsonPath: '.status.state.message', priority: 1 },
      age,
    ],
    labels: { ...contract, ...inventory },
  },
  {
    group: infrastructureGroup,
    kind: 'BKEClusterTemplate',
    description: 'What the BKEClusters of a ClusterClass begin with.',
    schema: bkeClusterTemplate,
    columns: [age],
    labels: { ...contract, ...inventory },
  },
  {
    group: infrastructureGroup,
    kind: 'BKEMachine',
    description: "A node's claim to a host.",
    schema: bkeMachine,
    columns: [cluster, { name: 'Host', type: 'string', jsonPath: '.spec.hostRef.name' }, ready, reason, age],
    labels: { ...contract, ...inventory },
  },
  {
    group: infrastructureGroup,
    kind: 'BKEMachineTemplate',
    description: 'Which hosts the machines of a pool may claim.',
    schema: bkeMachineTemplate,
    columns: [cluster, age],
    labels: { ...contract, ...inventory },
  },
  {
    group: bkeGroup,
    kind: 'BKEHost',
    description: 'A machine that clusters can be made of.',
    schema: bkeHost,
    columns: [
      { name: 'Address', type: 'string', jsonPath: '.spec.address' },
      { name: 'Available', type: 'string', jsonPath: '.status.conditions[?(@.type=="Available")].status' },
      { name: 'Machine', type: 'string', jsonPath: '.spec.consumerRef.name' },
      { name: 'Agent', type: 'string', jsonPath: '.status.agent.version', priority: 1 },
      { name: 'Quarantine', type: 'string', jsonPath: '.spec.quarantine.reason', priority: 1 },
      age,
    ],
    labels: moved,
  },
  {
    group: bkeGroup,
    kind: 'HostCommand',
    description: "The inbox of one host's agent; it has the host's name.",
    schema: hostCommand,
    columns: [
      { name: 'Command', type: 'string', jsonPath: '.spec.commandID' },
      { name: 'Operation', type: 'string', jsonPath: '.spec.operationRef.name' },
      { name: 'Steps', type: 'string', jsonPath: '.status.steps[*].state' },
      age,
    ],
  },
  {
    group: bkeGroup,
    kind: 'BKEOperation',
    description: 'A change of a cluster that outlives whoever asked for it.',
    schema: bkeOperation,
    columns: [
      { name: 'Action', type: 'string', jsonPath: '.spec.action' },
      { name: 'Target', type: 'string', jsonPath: '.spec.target.name' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Error', type: 'string', jsonPath: '.status.error.code', priority: 1 },
      age,
    ],
  },
];

/** Plain objects, ready to be applied; their names are as Cluster API computes them from group and kind. */
export function customResourceDefinitions(): { readonly name: string; readonly definition: object }[] {
  return definitions.map((definition) => {
    const name = `${definition.kind.toLowerCase()}s.${definition.group}`;
    return { name, definition: crd(name, definition) };
  });
}

function crd(name: string, { group, kind, description, schema, columns, labels }: Definition): object {
  const singular = kind.toLowerCase();
  const { properties } = structuralSchema(schema);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural: `${singular}s`,
        singular,
        categories: [group === infrastructureGroup ? 'cluster-api' : 'bke'],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: apiVersionName,
          served: true,
          storage: true,
          ...('status' in schema.shape ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: {
              description,
              type: 'object',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                ...(typeof properties === 'object' ? properties : {}),
              },
            },
          },
        },
      ],
    },
  };
}

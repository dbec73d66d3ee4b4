// What Cluster API 1.14 writes into messages while something is on its way, for whoever does not know its fields. Other messages stay as they are.
const phrases: readonly (readonly [RegExp, string])[] = [
  [/^Remote connection not established yet$/, 'Cluster API has not reached its API server yet'],
  [/^\S+ status\.initialization\.dataSecretCreated is false$/, 'what its host becomes a node with is not made yet'],
  [/^BKEMachine status\.initialization\.provisioned is false$/, 'its host is not a node yet'],
  [/^BKECluster status\.initialization\.provisioned is false$/, 'no host of the control plane is prepared yet'],
  [/^\S+ status\.initialization\.controlPlaneInitialized is false$/, 'the control plane is not initialised yet'],
  [/^Control plane not yet initialized$/, 'the control plane is not initialised yet'],
  [/^Node\.(\S+): Condition not yet reported$/, 'its kubelet has not told of $1 yet'],
];

export function inPlainWords(message: string): string {
  const found = phrases.find(([pattern]) => pattern.test(message));
  return found === undefined ? message : message.replace(found[0], found[1]);
}

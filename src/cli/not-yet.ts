// Commands that people look for and that this release does not have: what works in their place.

/** Written out: start-up loads nothing of what makes bootstrap clusters. */
const onBootstrapNode =
  "on the bootstrap node 'kubectl --kubeconfig /etc/kubernetes/admin.conf -n bke delete cluster NAME' (with K3s /etc/rancher/k3s/k3s.yaml)";

/** By the words after bke; a hint each. */
export const notYet: Readonly<Record<string, string>> = {
  'cluster delete': `Until it is, ${onBootstrapNode} deletes a cluster: its nodes end, and its hosts are cleaned and free again.`,
  'cluster scale': `Until it is, a cluster keeps its hosts: make another one of the new hosts, or this one anew. For that, ${onBootstrapNode} deletes it with all that runs in it; then 'bke cluster create -f FILE' with the other hosts.`,
  'cluster upgrade': `Until it is, a cluster keeps its version: make it anew. For that, ${onBootstrapNode} deletes it with all that runs in it; then 'bke cluster create -f FILE' with the other version.`,
};

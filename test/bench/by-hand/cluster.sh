#!/usr/bin/env bash
# A cluster by hand, with the same artifacts as bke: the peer of `bke cluster create` in `npm run bench:create`. On the bootstrap node, in the
# folder with node.sh and kubeadm.yaml: cluster.sh CONTROL-PLANE WORKER...; versions in the environment.
set -euo pipefail
began=$(date +%s.%N)
took() { printf "%6.1f s  %s\n" "$(awk "BEGIN { print $(date +%s.%N) - $began }")" "$1"; }
on() { local host=$1; shift; ssh -i /root/id_ed25519 -o BatchMode=yes "root@$host" "$@"; }
all() { local pid; for pid in "$@"; do wait "$pid"; done; }

control_plane=$1
workers=("${@:2}")
pids=()
for host in "$@"; do
  {
    on "$host" 'cat >/root/site-ca.crt' </etc/bke/site-ca.crt
    on "$host" sh -s -- "$SITE" "$CONTAINERD" "$RUNC" "$CRICTL" "$CNI_PLUGINS" "$KUBERNETES" "$PAUSE" <node.sh
  } &
  pids+=($!)
done
all "${pids[@]}"
took 'hosts are prepared'

on "$control_plane" 'cat >/root/kubeadm.yaml' <kubeadm.yaml
on "$control_plane" 'kubeadm init --config /root/kubeadm.yaml --ignore-preflight-errors=SystemVerification >/root/kubeadm.log 2>&1 ||
  { tail -n 30 /root/kubeadm.log >&2; exit 1; }'
took 'kubeadm init'
join=$(on "$control_plane" kubeadm token create --print-join-command)
curl -sSf --cacert /etc/bke/site-ca.crt "https://deploy.bke.internal:40080/flannel/$FLANNEL/kube-flannel.yml" |
  on "$control_plane" 'KUBECONFIG=/etc/kubernetes/admin.conf kubectl apply -f - >/dev/null'
pids=()
for host in "${workers[@]}"; do
  on "$host" "$join --ignore-preflight-errors=SystemVerification >/root/kubeadm.log 2>&1 || { tail -n 30 /root/kubeadm.log >&2; exit 1; }" &
  pids+=($!)
done
all "${pids[@]}"
took 'workers have joined'

on "$control_plane" "export KUBECONFIG=/etc/kubernetes/admin.conf
  kubectl wait --for=condition=Ready nodes --all --timeout=5m >/dev/null &&
  kubectl -n kube-system rollout status deployment/coredns --timeout=5m >/dev/null &&
  kubectl get nodes --no-headers"
took 'nodes and CoreDNS are ready'

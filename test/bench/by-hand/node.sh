# Makes a host ready for kubeadm: what a person writes who has done it before. Arguments: address of the site, versions of the programs.
set -eu
site=$1 containerd=$2 runc=$3 crictl=$4 cni=$5 kubernetes=$6 pause=$7
domain=deploy.bke.internal
printf '%s %s\n' "$site" "$domain" "$(hostname -I | cut -d' ' -f1)" "$(hostname)" >>/etc/hosts

get() { curl -sSf --cacert /root/site-ca.crt -o "$2" "https://$domain:40080/$1"; }
work=$(mktemp -d)
pids=
get "containerd/$containerd/linux/amd64/containerd.tar.gz" "$work/containerd.tar.gz" & pids="$pids $!"
get "cni-plugins/$cni/linux/amd64/cni-plugins.tar.gz" "$work/cni-plugins.tar.gz" & pids="$pids $!"
get "runc/$runc/linux/amd64/runc" /usr/local/bin/runc & pids="$pids $!"
get "crictl/$crictl/linux/amd64/crictl" /usr/local/bin/crictl & pids="$pids $!"
for name in kubeadm kubelet kubectl; do
  get "$name/$kubernetes/linux/amd64/$name" "/usr/local/bin/$name" & pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
chmod 0755 /usr/local/bin/runc /usr/local/bin/crictl /usr/local/bin/kube*
tar -xzf "$work/containerd.tar.gz" -C /usr/local
mkdir -p /opt/cni/bin
tar -xzf "$work/cni-plugins.tar.gz" -C /opt/cni/bin

for module in overlay br_netfilter nf_conntrack; do modprobe "$module" 2>/dev/null || true; done
printf '%s = 1\n' net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables net.bridge.bridge-nf-call-ip6tables >/etc/sysctl.d/99-kubernetes.conf
sysctl -q -p /etc/sysctl.d/99-kubernetes.conf

mkdir -p /etc/containerd
cat >/etc/containerd/config.toml <<TOML
version = 3
[plugins.'io.containerd.cri.v1.images']
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '$pause'
[plugins.'io.containerd.cri.v1.images'.registry]
config_path = '/etc/containerd/certs.d'
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
TOML
for registry in registry.k8s.io ghcr.io docker.io; do
  mkdir -p "/etc/containerd/certs.d/$registry"
  cat >"/etc/containerd/certs.d/$registry/hosts.toml" <<TOML
server = 'https://$domain:40443/v2/$registry'
capabilities = ['pull', 'resolve']
ca = '/root/site-ca.crt'
override_path = true
TOML
done
cat >/etc/crictl.yaml <<YAML
runtime-endpoint: unix:///run/containerd/containerd.sock
image-endpoint: unix:///run/containerd/containerd.sock
YAML
cat >/etc/systemd/system/containerd.service <<UNIT
[Service]
Type=notify
ExecStart=/usr/local/bin/containerd
Delegate=yes
KillMode=process
Restart=always
LimitNOFILE=1048576
TasksMax=infinity
[Install]
WantedBy=multi-user.target
UNIT
cat >/etc/systemd/system/kubelet.service <<'UNIT'
[Unit]
After=containerd.service
[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/local/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS
Restart=always
[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable -q --now containerd
systemctl enable -q kubelet
rm -r "$work"

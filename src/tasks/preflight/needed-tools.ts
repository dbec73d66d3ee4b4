// Programs of the operating system without which a host can't be set up.

/** Those that the steps call. */
const ownTools = ['systemctl', 'journalctl', 'useradd', 'groupadd', 'mount', 'umount', 'ip', 'df', 'du'];
/** Those that kubelet and kubeadm call (kubeadm's own preflight asks for them), and that load what the kernel lacks. */
const clusterTools = ['losetup', 'cp', 'modprobe'];

/** @param kubernetes whether Kubernetes will run there. */
export function neededTools(kubernetes: boolean): string[] {
  return kubernetes ? [...ownTools, ...clusterTools] : ownTools;
}

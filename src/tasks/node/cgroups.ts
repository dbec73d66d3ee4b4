// Which control groups a host has: containerd and the kubelet must agree on who manages them.
import type { TaskScope } from '../task.ts';

/** systemd manages the only tree there is with cgroup v2; with v1 a second writer is no fault, and cgroupfs works on every such system. */
export async function hasUnifiedCgroups(scope: TaskScope): Promise<boolean> {
  return (await scope.host.files.stat('/sys/fs/cgroup/cgroup.controllers')) !== undefined;
}

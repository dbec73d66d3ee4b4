// The bootstrap cluster behind one interface: how it is made, known to be ready, and reached. K3s and kubeadm are two ways.
import type { NodeSettings } from '../../config/node-settings.ts';
import type { Host } from '../../host/host.ts';
import type { Phase } from '../../operations/operation.ts';
import type { Catalogue } from '../../release/catalogue.ts';
import type { Platform } from '../../release/platforms.ts';
import type { TaskScope } from '../task.ts';

export type BootstrapKind = 'k3s' | 'kubeadm';

/** What both ways are made of; known before anything is changed. */
export interface BootstrapPlan {
  /** As events name the host. */
  readonly host: string;
  /** Name of the node. */
  readonly hostname: string;
  readonly hostIP: string;
  /** Of the API server. */
  readonly port: number;
  readonly podCIDR: string;
  readonly serviceCIDR: string;
  readonly settings: NodeSettings;
  readonly catalogue: Catalogue;
  readonly platform: Platform;
  /** Folder of the file repository on this host: a path of the catalogue below it is the artifact. */
  readonly filesDir: string;
  /** domain:port of the local registry */
  readonly registryHost: string;
  /** Public registries whose images the local one has. */
  readonly mirrored: readonly string[];
  /** PEM of the site CA, as an earlier step made it; asked while a step runs. */
  readonly siteCa: () => string;
}

export interface BootstrapCluster {
  readonly kind: BootstrapKind;
  /** Kubernetes version as the API server will tell it, e.g. v1.36.3 or v1.36.3+k3s1. */
  readonly version: string;
  /** Path of the administrator's kubeconfig on this host (0600, root). */
  readonly kubeconfig: string;
  /**
   * Whether it may begin on this host; asked before anything is changed, and again by its first step.
   * @throws BkeError BKE_KUBERNETES_FOUND where somebody else's Kubernetes is there, or its own of a version that this one cannot follow
   */
  check(host: Host): Promise<void>;
  /** Phases that bring it up; each step observes first, so that running them again converges. */
  install(): readonly Phase<TaskScope>[];
  /**
   * Waits until the API server answers, the node is Ready and cluster DNS runs.
   * @throws BkeError BKE_TIMEOUT that names what is not ready and why
   */
  ready(scope: TaskScope): Promise<void>;
}

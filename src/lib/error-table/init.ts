// Errors of `bke init` and the local services.
import { type ErrorEntry, ExitCode } from './entry.ts';

export const initErrors = {
  BKE_CONFIG_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'Settings are not valid',
    explanation:
      'Options or a configuration file have values that cannot be used. All of them are listed, each with where it was given. Nothing was done. Correct them and run the same command again.',
  },
  BKE_HOST_ADDRESS_UNKNOWN: {
    exit: ExitCode.invalidInput,
    title: 'It is not clear which address other hosts reach this host by',
    explanation:
      'Without a default route and with no or several addresses bke does not guess. Name the address with --host-ip. Nothing was done.',
  },
  BKE_PREFLIGHT_FAILED: {
    exit: ExitCode.preflight,
    title: 'This host is not ready',
    explanation:
      'Checks that run before anything is changed found problems; all of them are listed, each with its name and its mend. Mend them and run the same command again. A check that is wrong for your site can be left out with --ignore-check NAME.',
  },
  BKE_ROOT_NEEDED: {
    exit: ExitCode.preflight,
    title: 'Only root may do this',
    explanation:
      'The command changes this host, and bke does not run as root. The command line is fine: run the same one with sudo. Nothing was done.',
  },
  BKE_BUNDLE_NEEDED: {
    exit: ExitCode.invalidInput,
    title: 'A bundle is needed',
    explanation:
      'The local services serve what a bundle holds, and their own programs come from it too. Build one with `bke bundle build` on a machine that has the artifacts, carry it here, and name it with --bundle FILE. An init without a bundle also ends so where something of what was loaded before is gone or damaged: it names what, and an init with the bundle brings it back.',
  },
  BKE_ARTIFACT_MISSING: {
    exit: ExitCode.invalidInput,
    title: 'The bundle lacks something this step needs',
    explanation:
      'A release manifest must name what bke runs on hosts, each for the architecture of the host. For the local services: registry, containerd, runc, crictl, cni-plugins and a pause image; for a bootstrap cluster also K3s or the programs and images of Kubernetes, and those of Cluster API. The message names what is missing. Of a cluster it is the version of Kubernetes or an add-on: no release of the site has one of that name and version. Correct the file, build the bundle from a complete manifest, or let another way make the cluster (--bootstrap). Where a command is refused with this, nothing was done; an operation that ends with it goes on with the same command again.',
  },
  BKE_K3S_MISSING: {
    exit: ExitCode.invalidInput,
    title: 'The bundle cannot make a K3s cluster',
    explanation:
      'The bootstrap cluster is made by K3s unless told otherwise, and the bundle lacks its program or an image it needs; the message names what. bke never fetches anything itself. Either build a bundle whose release manifest names K3s with its address and digest (docs/guide/k3s.md has the lines), or let kubeadm make the cluster with `--bootstrap kubeadm`, or set up the local services only with `--bootstrap none`. Nothing was done.',
  },
  BKE_K3S_SETTING: {
    exit: ExitCode.invalidInput,
    title: 'A setting has no place in K3s',
    explanation:
      'kube-proxy runs inside K3s and takes options, not a configuration file, so that a field of KubeProxyConfiguration without an option of its own cannot be set. The message names the fields. Leave them out, or make the bootstrap cluster with `--bootstrap kubeadm`. Nothing was done.',
  },
  BKE_BUILT_BINARY_NEEDED: {
    exit: ExitCode.usage,
    title: 'bke runs from source',
    explanation:
      'bke init installs the running bke as a service, which only the built binary can be. Run `npm run build` and use dist/bke-linux-<arch>.',
  },
  BKE_SITE_CA_BROKEN: {
    exit: ExitCode.conflict,
    title: 'The site CA is incomplete',
    explanation:
      'Certificate and private key of the site CA do not belong together or one of them is gone. bke does not make a new CA by itself, because every host that trusts the old one would stop trusting the services. Bring the files back from a backup, or begin anew with `bke reset --all --mount` and `bke init`.',
  },
  BKE_DATA_DIR_CHANGED: {
    exit: ExitCode.conflict,
    title: 'The data directory cannot be changed by running init again',
    explanation:
      'The store of images, files and charts is at the place the first init was given. Leave --data-dir out, or begin anew with `bke reset --all --mount`.',
  },
  BKE_BOOTSTRAP_CHANGED: {
    exit: ExitCode.conflict,
    title: 'The bootstrap cluster cannot be changed by running init again',
    explanation:
      'What the bootstrap cluster is made by, its address and port, and the blocks of its pods and services hold for its whole life. Leave these settings as they were (the last init is remembered, so they need not be given), or take the cluster away with `bke reset`, which leaves the local services, and run init again. Nothing was done.',
  },
  BKE_PULL_FAILED: {
    exit: ExitCode.failed,
    title: 'An image cannot be pulled from the local registry',
    explanation:
      'After containerd was set up, bke pulls one image by its public name as a proof that names, mirrors, certificates and the store fit together; and an add-on is not there whose image no node gets. The message has what containerd said. Usual causes: the image is not in the registry, the site name does not resolve to the services host, a firewall closes the registry port, the clock of the host lies before the certificate begins.',
  },
  BKE_NOT_INITIALISED: {
    exit: ExitCode.failed,
    title: 'This host has no local services',
    explanation: '`bke init` was not run on this host, or `bke reset --mount` took the services away.',
  },
  BKE_KUBERNETES_FOUND: {
    exit: ExitCode.conflict,
    title: 'Another Kubernetes is on this host',
    explanation:
      'Files of a cluster are there that bke did not make, the host belongs to another cluster, or the bootstrap cluster has another version than the bundle. Nothing was changed. Use another host or bundle, or take the cluster away: bke reset --dry-run shows what would go.',
  },
  BKE_KUBEADM_FAILED: {
    exit: ExitCode.failed,
    title: 'The cluster could not be made by kubeadm',
    explanation:
      "kubeadm ended with an error; its own last words are under the message. Lines with [ERROR Name] are its checks of the host: mend what they name, or, where you know better, name the check in spec.settings.kubeadm.ignorePreflightErrors. A control plane that does not become healthy shows in crictl ps -a and in its container's log (crictl logs ID). Run the same command again afterwards: it goes on with what was begun.",
  },
} as const satisfies Record<string, ErrorEntry>;

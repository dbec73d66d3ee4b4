// Errors of Kubernetes, Cluster API, and of the hosts that clusters are made of.
import { type ErrorEntry, ExitCode } from './entry.ts';

export const clusterErrors = {
  // --- Kubernetes API
  BKE_KUBE_UNREACHABLE: {
    exit: ExitCode.failed,
    title: 'No API server answers',
    explanation:
      "None of the cluster's API server addresses took the connection, showed a certificate that can be trusted, or answered in time. The message has each address with its reason. Look whether the API server runs there (crictl ps on that host), whether its address can be reached from this machine, and whether the clocks agree.",
  },
  BKE_KUBE_FORBIDDEN: {
    exit: ExitCode.failed,
    title: 'The cluster does not allow this to the account in use',
    explanation:
      "The API server knows the account but its RBAC rules do not give it this right, or it does not accept the account's certificate or token any more (Unauthorized). The message has the server's own words. Use a kubeconfig of an administrator, or give the right to the account it names.",
  },
  BKE_KUBE_CONFLICT: {
    exit: ExitCode.conflict,
    title: 'Somebody else changed the object',
    explanation:
      "The object in the cluster was changed since it was read, exists already, or has fields that another manager owns. The message has the server's words and, for fields, whose they are. Nothing was overwritten. Look at the object (kubectl get -o yaml --show-managed-fields) and run the same command again.",
  },
  BKE_KUBE_REFUSED: {
    exit: ExitCode.failed,
    title: 'The cluster refuses the object',
    explanation:
      "The API server, an admission policy or a webhook found the request wrong; trying again would not help. The message has the server's own words: the field that is wrong or missing, or the rule that was broken.",
  },
  BKE_KUBE_FAILED: {
    exit: ExitCode.failed,
    title: 'The cluster could not do what it was asked',
    explanation:
      "The API server answered with an error of its own: it is starting or overloaded, cannot reach etcd or a webhook, or does not know this kind of object. The message has the server's own words. bke tries again where that can help; if it stays, look at the logs of the API server and of the component that is named.",
  },
  BKE_KUBE_EXPIRED: {
    exit: ExitCode.failed,
    title: 'The cluster no longer has that history',
    explanation:
      'A watch was to go on from a state that the API server has forgotten (410 Gone). bke lists the objects anew and goes on by itself; seen as an error, it is a sign that the API server discards its history faster than it can be read.',
  },
  BKE_KUBECONFIG_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The kubeconfig cannot be used',
    explanation:
      'It is no kubeconfig, lacks something that the message names, or asks for a way to log in that bke does not take: programs that make credentials (exec), passwords, or connections whose certificate is not checked. Name a kubeconfig with a client certificate or a token, such as /etc/kubernetes/admin.conf or /etc/rancher/k3s/k3s.yaml.',
  },
  BKE_KUBE_MANIFEST_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A manifest cannot be read',
    explanation:
      'A file of Kubernetes objects is no valid YAML or has a document that is no object (apiVersion, kind and metadata.name are needed). The message names document and line. Nothing of that file was sent to the cluster.',
  },
  // --- Cluster API
  BKE_COMPONENTS_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The components of a provider cannot be used',
    explanation:
      'The manifest of a Cluster API provider in the release has a variable without a value, names an image that the release does not have, or wants a certificate that this bke does not make. The message names it. Use the bundle of the release that belongs to this bke.',
  },
  BKE_MANAGEMENT_CA: {
    exit: ExitCode.failed,
    title: 'The management CA cannot be used',
    explanation:
      'The Secret bke-management-ca in the namespace bke-system has the CA that signs the certificates of the webhooks. It is missing or damaged, or its life of ten years is over; the message says which. It is never replaced by itself. Delete the Secret where it is still there and run `bke init` again: that makes a new CA, and new certificates with it. Webhooks may refuse requests for a minute or two meanwhile.',
  },
  BKE_CATALOGUE_TOO_LARGE: {
    exit: ExitCode.invalidInput,
    title: 'The catalogue of the release is too large for the cluster',
    explanation:
      'The list of everything in a release is kept in the cluster as one ConfigMap, which can hold 1 MiB. This release has too many artifacts for that: build it with fewer Kubernetes versions or images.',
  },
  // --- agent and its commands
  BKE_AGENT_NOT_INSTALLED: {
    exit: ExitCode.failed,
    title: 'The agent of this host does not know its cluster',
    explanation:
      'What `bke agent install` writes is missing or damaged, so the agent cannot tell where its commands come from. The controller installs it again over SSH once the BKEHost has a login; its conditions tell why it could not.',
  },
  BKE_STEP_UNKNOWN: {
    exit: ExitCode.invalidInput,
    title: 'The agent knows no such task',
    explanation:
      'A HostCommand names a task that this agent does not have. Nothing of the command was run. Most likely controller and agent are of different releases: the agent tells its version with its heartbeat, and `bke init` with the newer bke brings all to one.',
  },
  BKE_STEP_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A step has parameters that the agent does not take',
    explanation:
      'Every field that is wrong is named, never with its value. Nothing of the command was run. Most likely controller and agent are of different releases.',
  },
  BKE_STEP_INTERRUPTED: {
    exit: ExitCode.failed,
    title: 'A step was begun again and again and never ended',
    explanation:
      'A step that was running when the agent or its host went down is begun again. This one was too often: it may be what brings them down. The journal of bke-agent.service on the host, and that of its kernel, tell more. Ask for the operation again once that is mended.',
  },
  BKE_COMMAND_REPEATED: {
    exit: ExitCode.conflict,
    title: 'The command was carried out before',
    explanation:
      'A host carries out each command once. This one was brought back, for example with a backup of the cluster. Nothing was done. Asking for the operation again writes a new command.',
  },
  BKE_COMMAND_STALE: {
    exit: ExitCode.conflict,
    title: 'The command is of a controller that leads no more',
    explanation:
      'The host has seen commands of a later leader. What a former one still writes is refused, so that two never steer one host. Nothing was done; the present leader writes its own commands.',
  },
  BKE_SHELL_NOT_ALLOWED: {
    exit: ExitCode.invalidInput,
    title: 'Commands of people are not allowed on this host',
    explanation:
      'Through the inbox of a host a command is run only where spec.allowShell of its BKEHost says so. Nothing was run. Set it, or use `bke host exec -f`, which goes over SSH.',
  },
  BKE_COLLECT_REFUSED: {
    exit: ExitCode.invalidInput,
    title: 'The file is not one that the agent hands out',
    explanation:
      'Through the inbox of a host only logs are read: files that really lie below /var/log or among the journals of bke. The message tells what is wrong with this one.',
  },
  BKE_INBOX_EMPTY: {
    exit: ExitCode.failed,
    title: "The Secret with a step's data is not there",
    explanation:
      'Bootstrap data comes to a host in the Secret inbox-<host>, which is deleted once the step is confirmed. The step needs it and it is gone, or was never made. The controller writes both anew.',
  },
  // --- bootstrap data of Cluster API
  BKE_BOOTSTRAP_DATA_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The bootstrap data cannot be run',
    explanation:
      'Cluster API made instructions (cloud-config) for turning the host into a node, and something in them is nothing that bke does: a field or module of cloud-init that bke has no equal for, a template with more than values, or a value of a wrong form. bke refuses the whole rather than leave a part out, and has changed nothing. Each problem is listed with its line and field, never with a value, as the data holds keys. They come from the KubeadmConfigTemplate of the MachineDeployment or from the kubeadmConfigSpec of the KubeadmControlPlane: change it there. Disks (diskSetup, mounts) belong to the host and are set up before it becomes a node.',
  },
  BKE_BOOTSTRAP_FAILED: {
    exit: ExitCode.failed,
    title: 'A host did not become a node',
    explanation:
      "The commands of Cluster API's bootstrap data ran, and the one file that tells their success (/run/cluster-api/bootstrap-success.complete) is not there, so kubeadm failed or a command before it did. The last lines are under the message; all of them are in /var/lib/bke/bootstrap/runcmd.log on the host. Lines with [ERROR Name] are kubeadm's checks of the host. The next attempt takes away what this one has left and begins anew with the same data. A join with an expired token cannot succeed: delete the Machine, and Cluster API makes a new one.",
  },
  BKE_TIME_SERVICE_MISSING: {
    exit: ExitCode.failed,
    title: 'No time service runs on a host',
    explanation:
      'The bootstrap data names time servers (ntp), and neither chrony nor systemd-timesyncd runs on the host. bke sets the servers of the service that is there and installs none, as packages come from the owner of the host. Install and start one, or leave ntp out.',
  },
  BKE_NODE_EXISTS: {
    exit: ExitCode.conflict,
    title: 'The host is a node already, made with other data',
    explanation:
      'The host was made a node before and has not been released since, and now other bootstrap data came for it. A node is never made over: delete its Machine, which releases and cleans the host, and let a new Machine claim it. Nothing was changed.',
  },
  // --- hosts
  BKE_HOST_CREDENTIALS: {
    exit: ExitCode.invalidInput,
    title: 'There is nothing to log in to a host with',
    explanation:
      'A BKEHost names in spec.ssh.secretRef the Secret with what logs in to it: `password` or `ssh-privatekey` (with `passphrase` where the key has one), and `sudo-password` where sudo asks for another one. The Secret is not there, or has neither. It is looked for again every few seconds; nothing was dialled.',
  },
  BKE_SITE_UNKNOWN: {
    exit: ExitCode.failed,
    title: 'The controller does not know the site',
    explanation:
      'The ConfigMap bke-system/bke-site says where the local services and the API servers are, as hosts reach them, and by which CAs they are trusted. It is missing, or something in it cannot be used; the message says what. `bke init` on the bootstrap node writes it anew.',
  },
  BKE_AGENT_INSTALL: {
    exit: ExitCode.remoteHost,
    title: 'The agent could not be installed on a host',
    explanation:
      'The login worked and bke is on the host, but `bke agent install` did not end well there. The message has its last lines. Most often the host does not reach the API server of the management cluster: check firewalls and routes. It is tried again by itself; what was done already is not done again.',
  },
  BKE_AGENT_SILENT: {
    exit: ExitCode.remoteHost,
    title: 'The agent of a host is silent',
    explanation:
      'bke works on a host by its agent, and no heartbeat of it has come for more than 40 s: the host is off or starts anew, its network is cut, or bke-agent.service does not run there. Whatever the agent was at goes on by itself when it is back; nothing is lost. Look on the host with `journalctl -u bke-agent`, and run the same command again when it is up.',
  },
  BKE_HOST_RESET: {
    exit: ExitCode.remoteHost,
    title: 'The host of a machine was reset',
    explanation:
      "A host that a cluster was given has bke's agent no more: `bke reset --all` was run there, or its system was installed anew. Nobody takes it again by itself, so that no reset is undone behind a person's back, and the node that it was does not come back. The message says since when, and the hint what to do: delete the Machine that has it, and Cluster API makes another one.",
  },
  BKE_HOST_NOT_CLEANED: {
    exit: ExitCode.remoteHost,
    title: 'A host that leaves could not be cleaned',
    explanation:
      'A BKEHost that is deleted stays until bke is off its machine. `bke reset --all` did not end well there; the message has its last lines. Mend what it names: it is tried again by itself. For a machine that is gone for good, annotate the BKEHost with bke.io/force-delete=true: it is forgotten then, and whatever is on it stays there.',
  },
  // --- operations of clusters
  BKE_HOST_NOT_AVAILABLE: {
    exit: ExitCode.remoteHost,
    title: 'A host cannot be given to a cluster',
    explanation:
      'The host is in quarantine, in maintenance, carries the local services, or no key of it is known, and nothing but a person changes that. The message has the reason as the condition Available of its BKEHost tells it. `bke host list -o wide` shows all hosts with their reasons.',
  },
  BKE_CLUSTER_EXISTS: {
    exit: ExitCode.conflict,
    title: 'The cluster is there already, and is another one',
    explanation:
      'A cluster of that name is there, and of what is made of it already the file says something else: another version, network or number of machines of a control plane that is initialised, or other settings, labels or taints of a host that is a node. Creating makes a cluster and goes on with one that is half made; it neither scales nor upgrades one, and nothing would apply such settings to a node that is there. The message has each difference with its line in the file and the hosts that have it, and the hint what can be done. Nothing was written.',
  },
  BKE_CLUSTER_DELETING: {
    exit: ExitCode.conflict,
    title: 'The cluster is being deleted',
    explanation:
      'Somebody has deleted the Cluster in the management cluster. What is made of it is taken down, its hosts are cleaned and are free again after that; nothing revives it. Creating it is refused meanwhile, and an operation that was making it has ended. `bke cluster describe NAME` shows what of it is still there and what each part waits for. Make it anew when `bke cluster list` does not show it any more.',
  },
  BKE_CLUSTER_PAUSED: {
    exit: ExitCode.conflict,
    title: 'The cluster is paused',
    explanation:
      'Somebody has paused the Cluster, or a part of it (`spec.paused`, or the annotation cluster.x-k8s.io/paused): neither Cluster API nor bke does anything about it before that is lifted. The message has what is paused and by whom, and the command that lifts it. Whoever paused it may be at work on it: ask first. The pause that `bke operation cancel` leaves is lifted by the next `bke cluster create` itself.',
  },
  BKE_CLUSTER_UNKNOWN: {
    exit: ExitCode.usage,
    title: 'There is no such cluster',
    explanation:
      'The management cluster has no cluster of that name in that namespace. `bke cluster list` shows those that are there; --namespace and --kubeconfig choose where is looked.',
  },
  BKE_HOST_TAKEN: {
    exit: ExitCode.conflict,
    title: 'A host is not free for the cluster',
    explanation:
      'A host of the file is known to the management cluster already and belongs to another cluster, carries the local services, is being deleted, or is the same machine under another name. One machine is one host, and part of one cluster only. `bke host list` shows whose each host is.',
  },
  BKE_SSH_AGENT_ONLY: {
    exit: ExitCode.invalidInput,
    title: 'A host can be logged in to with an SSH agent only',
    explanation:
      'Hosts of a cluster are brought up by the controller in the management cluster, which logs in to them itself and cannot reach the SSH agent of a person (`ssh.agent: true`). Give those hosts and bastions a private key (privateKeyFile) or a password (passwordFile): it is kept as a Secret, and with `ssh.retain: false` only until the agent of bke is up. `bke host check` works with an SSH agent.',
  },
  BKE_SETTING_UNSUPPORTED: {
    exit: ExitCode.invalidInput,
    title: 'The cluster.yaml asks for something that this bke does not do',
    explanation:
      'Nothing of a cluster.yaml is ignored: what this release cannot do yet (a virtual address by keepalived, charts as add-ons, a login at a registry, becoming the management cluster) is refused before anything is touched. The message has each field with what to write instead. A BKECluster that was made with kubectl shows the same in its conditions.',
  },
  BKE_OPERATION_UNKNOWN: {
    exit: ExitCode.usage,
    title: 'There is no such operation',
    explanation:
      'Neither this machine nor the management cluster has an operation of that id, or it was there and somebody deleted it; the newest 20 of each cluster are kept, and the last 200 of this machine. `bke operation list` shows those that are there; --kubeconfig chooses where is looked.',
  },
  BKE_DETACHED: {
    exit: ExitCode.interrupted,
    title: 'No longer watching an operation that goes on',
    explanation:
      'An operation of a cluster is carried out in the management cluster, not by the command that asked for it: Ctrl-C only stops watching. `bke operation attach ID` watches it again, from where it is; `bke operation cancel ID` stops it.',
  },
  BKE_OPERATION_CONFLICT: {
    exit: ExitCode.conflict,
    title: 'Another operation of the cluster is running',
    explanation:
      'One operation at a time changes a cluster. The message names the one that runs. Watch it with `bke operation attach ID`, or stop it with `bke operation cancel ID`, and run the command again when it has ended.',
  },
} as const satisfies Record<string, ErrorEntry>;

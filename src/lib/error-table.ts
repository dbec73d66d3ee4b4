// Every error a user can meet: its exit code, a title, and the paragraph `bke explain CODE` and docs/errors.md print.

/** Exit codes of the bke command, as `bke help exit-codes` lists them. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  invalidInput: 3,
  preflight: 4,
  remoteHost: 5,
  timeout: 6,
  conflict: 7,
  bug: 70,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export interface ErrorEntry {
  readonly exit: ExitCode;
  /** One line, sentence case, no full stop. */
  readonly title: string;
  /** What it means, why it happens, how to mend it: full sentences. */
  readonly explanation: string;
}

/** One table, grouped by the folder that throws them. A test checks that each code is thrown somewhere and explained. */
export const errorTable = {
  // --- general
  BKE_INTERNAL: {
    exit: ExitCode.bug,
    title: 'A bug in bke',
    explanation:
      'Something happened that bke did not expect. Nothing you typed is wrong. Please report the message together with the log file named under it.',
  },
  BKE_CANCELLED: {
    exit: ExitCode.interrupted,
    title: 'Cancelled',
    explanation:
      'You or the system asked bke to stop. It stopped at the next safe point; run the same command again to go on from there.',
  },
  BKE_TIMEOUT: {
    exit: ExitCode.timeout,
    title: 'Something did not happen in time',
    explanation:
      'bke bounds every wait. The message says what it waited for, on which host and what was last seen there. Mend that and run the same command again: finished steps are not repeated.',
  },
  BKE_USAGE: {
    exit: ExitCode.usage,
    title: 'The command line is not understood',
    explanation: 'A command, argument or option is unknown, missing or has a wrong form. Nothing was done.',
  },
  BKE_SECRET_EXPOSED: {
    exit: ExitCode.invalidInput,
    title: 'A secret file is open to others',
    explanation:
      'A file with a password or private key may be read or changed by other users of this machine, so it is refused, as ssh refuses such keys. Make it yours alone with chmod 600, and consider the secret known if others could log in here. Nothing was done with it.',
  },
  BKE_SYSTEM: {
    exit: ExitCode.failed,
    title: 'The operating system refused something',
    explanation:
      'A file could not be read or written, or a connection could not be made. The message names what was tried, on what, and the reason the system gave: no space left, permission denied, address in use and the like. Mend that and run the same command again.',
  },
  // --- command line
  BKE_UNKNOWN_COMMAND: {
    exit: ExitCode.usage,
    title: 'There is no such command',
    explanation:
      'The first words after `bke` name no command. Commands are never shortened or guessed. `bke help` lists them all. Nothing was done.',
  },
  BKE_UNKNOWN_OPTION: {
    exit: ExitCode.usage,
    title: 'The command has no such option',
    explanation:
      'Options are never shortened or guessed, and a misspelt one stops the command before it does anything. `bke help COMMAND` lists its options. Nothing was done.',
  },
  BKE_CONFIRMATION_NEEDED: {
    exit: ExitCode.usage,
    title: 'A confirmation is needed and there is no terminal to ask on',
    explanation:
      'The command takes something away, so it asks first. Input or messages are not connected to a terminal, or --no-input was given, so it could not ask. Look at the plan (--dry-run), then run the command again with --yes. Nothing was done.',
  },
  // --- host
  BKE_COMMAND_FAILED: {
    exit: ExitCode.failed,
    title: 'A command on a host failed',
    explanation:
      'bke ran a program of the operating system and it ended with an error. The message has the command, its exit code and its last lines.',
  },
  // --- SSH
  BKE_SSH_UNREACHABLE: {
    exit: ExitCode.remoteHost,
    title: 'A host does not answer',
    explanation:
      'No connection to the address and port came about: the host is off, the address or port is wrong, a firewall drops packets, or sshd is not running. Network faults are tried again a few times before this message; it has the last one. Try by hand: ssh -p PORT USER@ADDRESS.',
  },
  BKE_SSH_LOST: {
    exit: ExitCode.remoteHost,
    title: 'The connection to a host broke',
    explanation:
      'The host closed the connection, was switched off or rebooted, or gave no sign of life for three keepalive periods. What ran there may have finished or not; run the same command again: finished steps are not repeated.',
  },
  BKE_SSH_PROTOCOL: {
    exit: ExitCode.remoteHost,
    title: 'No SSH session could be agreed on',
    explanation:
      'Something answers at the address, but it is no SSH server bke can talk to: another service on that port, or a server without a common cipher or key exchange. Look at it with: ssh -v -p PORT USER@ADDRESS.',
  },
  BKE_SSH_AUTH: {
    exit: ExitCode.remoteHost,
    title: 'A host refuses the login',
    explanation:
      'The host answered and its key is right, but it does not accept the user with the credentials given. The message lists the ways of logging in that the host offers and those that were tried. bke tries each credential once and never again in the same command, so that no account is locked.',
  },
  BKE_SSH_KEY_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A private key cannot be used',
    explanation:
      'The file named as private key is missing, empty, a public key, damaged, or in a form bke does not read. OpenSSH, PKCS#1, PKCS#8 and SEC1 keys of type ed25519, RSA and ECDSA work. No host was contacted.',
  },
  BKE_SSH_KEY_PASSPHRASE: {
    exit: ExitCode.invalidInput,
    title: 'The passphrase of a private key is missing or wrong',
    explanation:
      'The private key is encrypted. Put its passphrase into a file with mode 0600 and name that in ssh.passphraseFile, answer the question on a terminal, or use an SSH agent. No host was contacted.',
  },
  BKE_SSH_AGENT: {
    exit: ExitCode.invalidInput,
    title: 'The SSH agent is of no use',
    explanation:
      'ssh.agent asks for the SSH agent of whoever runs bke, and it is the only way in that is given, but no agent runs (SSH_AUTH_SOCK is not set), it does not answer, it is locked or it holds no key. No host was contacted. Start it and load the key with ssh-add; sudo drops the variable unless it is told to keep it: sudo --preserve-env=SSH_AUTH_SOCK.',
  },
  BKE_SSH_HOST_KEYS_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'An entry of ssh.hostKeys is no host key',
    explanation:
      'Each entry of ssh.hostKeys is a fingerprint (SHA256: and 43 characters, as ssh-keygen -l prints it) or a public key line (as in /etc/ssh/ssh_host_ed25519_key.pub). No host was contacted.',
  },
  BKE_HOST_KEY_UNKNOWN: {
    exit: ExitCode.remoteHost,
    title: 'The key of a host is not known',
    explanation:
      'Neither ssh.hostKeys nor a known_hosts file says which key the host has, so bke cannot tell it from somebody in between, and sent it nothing. Compare the fingerprint with the one on the host; then write it into ssh.hostKeys, log in once with ssh, or use --accept-new-host-keys.',
  },
  BKE_HOST_KEY_CHANGED: {
    exit: ExitCode.remoteHost,
    title: 'The key of a host is not the one that is known',
    explanation:
      'The host shows another key than ssh.hostKeys or known_hosts says, or one that is marked as revoked. Either somebody else answers at its address, or it was installed anew. Nothing was sent to it, and --accept-new-host-keys does not help here. The message has the old and the new fingerprint and the command that removes the old one.',
  },
  BKE_SSH_BASTION: {
    exit: ExitCode.remoteHost,
    title: 'A bastion does not forward connections',
    explanation:
      'The login to the bastion worked, but its sshd forbids to go on from there. It needs AllowTcpForwarding yes (or local) for the user, and no PermitOpen that leaves the host out.',
  },
  BKE_SSH_SHELL: {
    exit: ExitCode.remoteHost,
    title: 'An account cannot run commands',
    explanation:
      'The login worked, but no command could be started: the login shell is nologin or restricted, a start-up file (such as .bashrc) ends the shell or waits for something, the password has expired, or the host refuses sessions. The message has what the host printed.',
  },
  BKE_SUDO_PASSWORD_NEEDED: {
    exit: ExitCode.remoteHost,
    title: 'sudo asks for a password and none is known',
    explanation:
      'The login is not root and sudo on the host wants a password. Give ssh.sudo.passwordFile (or ssh.sudo.password), allow the account NOPASSWD, or log in as root.',
  },
  BKE_SUDO_DENIED: {
    exit: ExitCode.remoteHost,
    title: 'sudo refuses',
    explanation:
      'The login worked, but the account may not become root: the sudo password is wrong, the account is not in sudoers, sudo is not installed, or sudo demands a terminal (requiretty). bke gives the password once per command and never guesses again.',
  },
  BKE_HOST_FACTS: {
    exit: ExitCode.remoteHost,
    title: 'What a host is could not be read',
    explanation:
      'The probe that reads the operating system, memory, disks and so on did not end well or gave something unexpected. The message has what it said. It changes nothing on the host, so it can be run again at any time.',
  },
  // --- bke init and the local services
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
      'A release manifest must name what bke runs on hosts, each for the architecture of the host. For the local services: registry, containerd, runc, crictl, cni-plugins and a pause image; for a bootstrap cluster also K3s or the programs and images of Kubernetes, and those of Cluster API. The message names what is missing. Build the bundle from a complete manifest, or let another way make the cluster (--bootstrap). Nothing was done.',
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
      'After containerd was set up, bke pulls one image by its public name as a proof that names, mirrors, certificates and the store fit together. The message has what containerd said. Usual causes: the site name does not resolve to the services host, a firewall closes the registry port, the clock of the host lies before the certificate begins.',
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
      'Files of a cluster are there that bke did not make, or the bootstrap cluster has another version than the bundle. Nothing was changed. Use another host or bundle, or take the cluster away: bke reset --dry-run shows what would go.',
  },
  BKE_KUBEADM_FAILED: {
    exit: ExitCode.failed,
    title: 'The cluster could not be made by kubeadm',
    explanation:
      "kubeadm ended with an error; its own last words are under the message. Lines with [ERROR Name] are its checks of the host: mend what they name, or, where you know better, name the check in spec.settings.kubeadm.ignorePreflightErrors. A control plane that does not become healthy shows in crictl ps -a and in its container's log (crictl logs ID). Run the same command again afterwards: it goes on with what was begun.",
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
  // --- release, bundle, registry, file repository
  BKE_DISK_FULL: {
    exit: ExitCode.failed,
    title: 'A disk is full',
    explanation:
      'The message names the directory, what is free there and what is needed. What was half written has been removed. Free some space or choose a directory on another disk, then run the same command again.',
  },
  BKE_DIGEST_MISMATCH: {
    exit: ExitCode.failed,
    title: 'Bytes are not what they should be',
    explanation:
      'What was read has another sha256 than was promised: a broken copy, a disk or network fault, or somebody changed it. Nothing of it was used. The message names the source, the digest wanted and the digest found. Fetch that one file again; there is no folder to delete.',
  },
  BKE_MANIFEST_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The release manifest has mistakes',
    explanation:
      'Each line under the message is one mistake with file, line and column. All mistakes are listed at once; nothing was built.',
  },
  BKE_ARTIFACT_UNUSABLE: {
    exit: ExitCode.invalidInput,
    title: 'An artifact of the release cannot be used',
    explanation:
      'A file or chart that the release manifest names is missing, empty, for another processor architecture or not what its kind says. The message names the artifact, the platform and the place.',
  },
  BKE_IMAGE_REFERENCE: {
    exit: ExitCode.invalidInput,
    title: 'An image name is not complete',
    explanation:
      'bke wants the full public name of an image, with registry and tag or digest, such as docker.io/library/nginx:1.29: which registry a short name means depends on the machine that reads it.',
  },
  BKE_IMAGE_UNUSABLE: {
    exit: ExitCode.invalidInput,
    title: 'An image cannot be used',
    explanation:
      'The manifest, index or configuration of an image is not valid, of a type that containerd no longer runs, or for another platform than it should be. The message names the image and the digest.',
  },
  BKE_IMAGE_PLATFORM_MISSING: {
    exit: ExitCode.invalidInput,
    title: 'An image is not there for every platform',
    explanation:
      'The release wants an image for a platform that its source does not have, or that its index names without having the bytes. Get the image for that platform too, or build the bundle for fewer platforms with --platform.',
  },
  BKE_BUNDLE_UNREADABLE: {
    exit: ExitCode.invalidInput,
    title: 'The bundle cannot be read',
    explanation: 'There is no such file, it is no plain file, or it may not be read by you.',
  },
  BKE_BUNDLE_FORMAT: {
    exit: ExitCode.invalidInput,
    title: 'This is no bundle that this bke knows',
    explanation:
      'The file is no tar file that begins with bundle.json, or its bundle.json is of a format that this bke does not know. A newer bke may have written it.',
  },
  BKE_BUNDLE_VERSION: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is for another version of bke',
    explanation:
      'A bundle can be loaded by a bke that is at most one minor version older or newer than the bke that built it. Use the bundle of this release, or the bke of that one.',
  },
  BKE_BUNDLE_TRUNCATED: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is cut off',
    explanation:
      'The file ends before its content does: the copy or download was not finished. Copy it again and compare the size.',
  },
  BKE_BUNDLE_DAMAGED: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is damaged',
    explanation:
      'Bytes of the file were changed after it was written. The message says where. Copy it again from where you got it.',
  },
  BKE_BUNDLE_UNSAFE_NAME: {
    exit: ExitCode.invalidInput,
    title: 'The bundle has a member that no bundle may have',
    explanation:
      'A member is a link, a device or a directory, or its name is absolute or leads out of the bundle. bke never writes such bundles and reads nothing from this one.',
  },
  BKE_BUNDLE_DUPLICATE: {
    exit: ExitCode.invalidInput,
    title: 'The bundle has a member twice',
    explanation:
      'Two members have the same name, so it is not clear which one counts. bke never writes such bundles and reads nothing from this one.',
  },
  BKE_BUNDLE_INCOMPLETE: {
    exit: ExitCode.invalidInput,
    title: 'The bundle lacks something',
    explanation:
      'bundle.json names content that is not in the file, or a part of an image is missing. Build the bundle again, or copy it again.',
  },
  BKE_BUNDLE_EXTRA: {
    exit: ExitCode.invalidInput,
    title: 'The bundle has more than it says',
    explanation:
      'There is something in the file that the signed bundle.json does not name. Somebody added it after the bundle was built.',
  },
  BKE_BUNDLE_SIGNATURE: {
    exit: ExitCode.invalidInput,
    title: 'The signature of the bundle is wrong',
    explanation:
      'The bundle says it was signed by a key you trust, but the signature does not fit its bundle.json: it was changed after signing. --allow-unsigned does not help here, on purpose.',
  },
  BKE_BUNDLE_UNTRUSTED: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is not signed by anyone you trust',
    explanation:
      'The bundle has no signature, or one of a key that this bke does not know. Give the public key with --trust-key FILE, or accept it this once with --allow-unsigned.',
  },
  BKE_BUNDLE_PLATFORM: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is not for this platform',
    explanation: 'The bundle has nothing for a platform that is needed here. Use a bundle that was built for it.',
  },
  BKE_BUNDLE_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The bundle did not pass verification',
    explanation:
      'Each line under the message is one fault that was found in the bundle. Nothing should be loaded from it.',
  },
  BKE_KEY_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A key cannot be used',
    explanation:
      'Signing needs an Ed25519 private key in PEM form (openssl genpkey -algorithm ed25519), trusting an Ed25519 public key in PEM form (openssl pkey -in KEY -pubout).',
  },
  BKE_CHART_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A chart is not valid',
    explanation:
      'The file is no whole chart archive, or its Chart.yaml has no name or no semantic version. The message names the file and the reason.',
  },
  BKE_CHART_CONFLICT: {
    exit: ExitCode.conflict,
    title: 'The chart version is there with other content',
    explanation:
      'A chart of this name and version is in the repository already, and its content differs. Versions do not change: give the chart a new version, or replace it with --force if nobody uses the old one.',
  },
  BKE_REGISTRY_UNREACHABLE: {
    exit: ExitCode.remoteHost,
    title: 'The registry cannot be reached',
    explanation:
      'The connection was refused, broken or silent, several times. The message has the address and the reason of the last time. What was already pushed is kept; run the same command again.',
  },
  BKE_REGISTRY_TLS: {
    exit: ExitCode.remoteHost,
    title: 'The registry cannot be trusted',
    explanation:
      'The TLS connection failed: an unknown CA, a certificate for another name or out of date, or a port that does not speak TLS. bke never talks to a registry without TLS.',
  },
  BKE_REGISTRY_LOGIN: {
    exit: ExitCode.remoteHost,
    title: 'The registry refuses the login',
    explanation:
      'User name or password are missing or wrong, or do not allow what was tried. The message has the answer of the registry.',
  },
  BKE_REGISTRY_NOT_FOUND: {
    exit: ExitCode.remoteHost,
    title: 'The registry does not have it',
    explanation: 'The repository, tag or blob in the message is not there.',
  },
  BKE_REGISTRY_REFUSED: {
    exit: ExitCode.remoteHost,
    title: 'The registry refused a request',
    explanation: 'The message has what was tried, the status and the own words of the registry. Its log tells more.',
  },
  BKE_DOWNLOAD_FAILED: {
    exit: ExitCode.remoteHost,
    title: 'A download failed',
    explanation:
      'A file of the release could not be fetched from its address. The message has the address and the reason. What arrived is kept: the same command goes on from there.',
  },
  BKE_CERTIFICATE_UNREADABLE: {
    exit: ExitCode.invalidInput,
    title: 'A certificate or key file cannot be used',
    explanation:
      'The TLS certificate or key of the file server is missing, not PEM, or the two do not belong together.',
  },
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
      'A cluster of that name is up with other numbers of machines or another version than the file says, or is being deleted. Creating makes a cluster and goes on with one that is half made; it neither scales nor upgrades nor revives one. The message names each difference.',
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
      'A host of the file is known to the management cluster already and belongs to another cluster, or carries the local services. One host is part of one cluster only. `bke host list` shows whose each host is.',
  },
  BKE_SSH_AGENT_ONLY: {
    exit: ExitCode.invalidInput,
    title: 'A host can be logged in to with an SSH agent only',
    explanation:
      'Hosts of a cluster are brought up by the controller in the management cluster, which logs in to them itself and cannot reach the SSH agent of a person (`ssh.agent: true`). Give those hosts and bastions a private key (privateKeyFile) or a password (passwordFile): it is kept as a Secret, and with `ssh.retain: false` only until the agent of bke is up. `bke host check` works with an SSH agent.',
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
  // --- changes and the ledger
  BKE_FILE_TOO_LARGE: {
    exit: ExitCode.failed,
    title: 'A file is larger than it can be',
    explanation:
      'bke reads small files (configuration, tables of the system) whole, up to a bound, and this one is larger. Look at the file that is named: something else probably wrote into it.',
  },
  BKE_LOCKED: {
    exit: ExitCode.conflict,
    title: 'Another bke is working on this host',
    explanation:
      'One bke at a time changes a host. The message names the process, its command and since when it runs. Wait until it has ended, or end it, and run the command again. What a dead process left is taken over without asking; where a program that it started still runs, the next bke waits at most 60 s for it and then ends it.',
  },
  BKE_LEDGER_NEWER: {
    exit: ExitCode.conflict,
    title: 'The ledger of this host was written by a newer bke',
    explanation:
      'bke keeps a record of all it changed on a host in /var/lib/bke/ledger. This one has a format that this bke does not know. Use the newer bke that wrote it.',
  },
  BKE_LEDGER_LOST: {
    exit: ExitCode.failed,
    title: 'The record of a change cannot be read',
    explanation:
      'Something was changed by bke and the part of the ledger in /var/lib/bke/ledger that tells what was there before is missing or damaged. What it is stays as it is; put it back by hand.',
  },
  BKE_CHANGE_NOT_APPLIED: {
    exit: ExitCode.failed,
    title: 'A change did not take effect',
    explanation:
      'bke made a change to the host, looked again, and it was not so: something else changes the same thing, or the system refused it silently. The message names the change and the last lines the system wrote about it.',
  },
  BKE_PATH_IN_THE_WAY: {
    exit: ExitCode.conflict,
    title: 'Something else is where bke needs a path',
    explanation:
      'A directory, file or link of another kind is at a path where bke must put its own. bke does not replace a directory by a file or the other way round. Move it away and run the command again.',
  },
  BKE_NO_SUCH_USER: {
    exit: ExitCode.failed,
    title: 'A user or group does not exist',
    explanation:
      'A file should belong to a user or group that the host does not have. Create it, or run the step that does.',
  },
  BKE_ARCHIVE_UNSAFE: {
    exit: ExitCode.invalidInput,
    title: 'An archive holds what it must not',
    explanation:
      'Archives that bke unpacks hold files, directories and links that stay inside their folder. This one has an entry with an absolute path, a path upwards, a link that leads out, a device, or more data than the bound. Nothing of it is used.',
  },
  BKE_REMOVAL_REFUSED: {
    exit: ExitCode.invalidInput,
    title: 'bke does not delete this directory',
    explanation:
      'A directory of the system itself (/, /etc, /usr, /var/lib, a home directory and the like) was named where bke deletes a whole tree. Data belongs in a directory of its own, e.g. /data/bke.',
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
  BKE_HOST_NOT_CLEANED: {
    exit: ExitCode.remoteHost,
    title: 'A host that leaves could not be cleaned',
    explanation:
      'A BKEHost that is deleted stays until bke is off its machine. `bke reset --all` did not end well there; the message has its last lines. Mend what it names: it is tried again by itself. For a machine that is gone for good, annotate the BKEHost with bke.io/force-delete=true: it is forgotten then, and whatever is on it stays there.',
  },
  // --- reset
  BKE_RESET_INCOMPLETE: {
    exit: ExitCode.failed,
    title: 'Something could not be taken away',
    explanation:
      'The reset did all it could and looked at the host again: the things listed are still there. Each line names what stays, why, and the command that shows it; a directory that is in use names the process that holds it. Nothing behind a mount was deleted. Mend what is named (end the process, take off the immutable flag, unmount by hand) and run the same reset again: it goes on with the rest.',
  },
  BKE_RESET_CHANGED: {
    exit: ExitCode.conflict,
    title: 'The host changed between the plan and the reset',
    explanation:
      'Before it begins, a reset looks at the host again under its lock. The things listed (data, mounts, files or recorded changes) were not in the plan that was shown, so nobody has agreed to them. Nothing was changed. Find out what is still at work on the host if you did not expect it, then run the same command again: it shows the plan as it is now.',
  },
  BKE_RESET_REFUSED: {
    exit: ExitCode.conflict,
    title: 'The reset would cut something off and did not begin',
    explanation:
      "Taking away what the message names would end the SSH session the reset was started from, bke itself, or something that is not Kubernetes'. Nothing was changed. The hint says how to make it safe; then run the same command again.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

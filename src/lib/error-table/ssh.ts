// Errors on the way to a host.
import { type ErrorEntry, ExitCode } from './entry.ts';

export const sshErrors = {
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
} as const satisfies Record<string, ErrorEntry>;

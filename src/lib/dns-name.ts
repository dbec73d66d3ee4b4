// Names in DNS and of hosts and nodes: what is valid, and the nearest valid form to show where one is not (RFC 1123).

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One label of a DNS name, as names of namespaces are. */
export function isDnsLabel(name: string): boolean {
  return LABEL.test(name);
}

/** A lower-case DNS name of at least `minLabels` labels, without the final dot. */
export function isDnsName(name: string, minLabels = 1): boolean {
  const labels = name.split('.');
  return name.length <= 253 && labels.length >= minLabels && labels.every(isDnsLabel);
}

/**
 * A name that a host and its Kubernetes node can have: a DNS name of at most 63 characters that is neither `localhost` nor only digits
 * (a name of digits reads as a number in YAML and as an address in tools).
 */
export function isHostName(name: string): boolean {
  return isDnsName(name) && name.length <= 63 && !/^[0-9.]+$/.test(name) && name.split('.')[0] !== 'localhost';
}

/** The nearest valid host name, to show in messages. */
export function suggestHostName(name: string): string {
  const cleaned = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/-*\.+-*/g, '.')
    .slice(0, 63)
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  if (isHostName(cleaned)) return cleaned;
  return /^[0-9.]+$/.test(cleaned) && cleaned !== '' ? `host-${cleaned}`.slice(0, 63) : 'host-1';
}

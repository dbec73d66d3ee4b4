// A client of any OCI registry (distribution-spec 1.1): manifests, blobs, resumable uploads; everything is verified.
export interface RegistryClientOptions {
  /** e.g. https://bke.local:40443 */
  readonly url: string;
  /** PEM certificates to trust; only these. Without it the machine's own. */
  readonly ca?: readonly string[];
  readonly username?: string;
  readonly password?: string;
  /** Longest silence on a connection in ms; default 30 000. There is no limit on the whole. */
  readonly idleTimeoutMs?: number;
}
export interface RegistryClient {
  readonly url: string;
  close(): void;
}
export function createRegistryClient(_options: RegistryClientOptions): RegistryClient {
  throw new Error('not built yet');
}

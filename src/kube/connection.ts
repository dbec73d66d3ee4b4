// Where a cluster's API is, whom to trust there, and as whom bke speaks: everything a client needs, from whatever source.
export interface KubeConnection {
  /** https URLs of API servers of one cluster, tried in turn. */
  readonly servers: readonly string[];
  /** PEM certificates to trust and no others; absent: the public ones and the machine's own. */
  readonly ca?: readonly string[];
  /** Name that the servers' certificate must have where it is not that of the URL. */
  readonly serverName?: string;
  readonly credential: KubeCredential;
  /** How long each request that only reads may take; absent: as any other (30 s). */
  readonly readTimeoutMs?: number;
}

export type KubeCredential =
  /** PEM; the key is a secret. */
  | { readonly type: 'certificate'; readonly certificate: string; readonly key: string }
  /** Asked before every request, so that a token that was replaced is used at once. */
  | { readonly type: 'token'; readonly token: () => Promise<string> };

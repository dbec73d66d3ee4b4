// Brings bke to a host: fetched by the host's own curl or wget from the file repository, else streamed; the digest is checked there either way.
import type { Readable } from 'node:stream';
import type { Site } from '../../cluster/site.ts';
import type { HostShell } from '../../host/host.ts';
import { hostPort } from '../../lib/address.ts';
import { BkeError } from '../../lib/errors.ts';
import { lastLine } from '../../lib/text.ts';
import { type Catalogue, type FileArtifact, findFile } from '../../release/catalogue.ts';
import { type Platform, platforms } from '../../release/platforms.ts';

/** The bke of this process, where it is a built one. */
export interface OwnBinary {
  readonly platform: Platform;
  readonly size: number;
  digest(): Promise<string>;
  open(): Readable;
}

export interface BinarySources {
  /** Version of this bke: agents get the same. */
  readonly version: string;
  readonly own: OwnBinary | undefined;
  readonly site: Pick<Site, 'hostIP' | 'ports' | 'ca'>;
  readonly catalogues: readonly Catalogue[];
}

export interface Bringing {
  readonly signal: AbortSignal;
  readonly tell: (doing: string) => void;
}

const fetchMs = 10 * 60_000;

/** @param arch as the facts have it @returns its path on the host, executable */
export async function bringBinary(
  host: HostShell,
  arch: string,
  sources: BinarySources,
  { signal, tell }: Bringing,
): Promise<string> {
  const platform = platforms.find((one) => one === `linux/${arch}`);
  const artifact = platform === undefined ? undefined : artifactOf(sources, platform);
  const why = artifact === undefined ? undefined : await fetchFrom(host, artifact, sources, { signal, tell });
  if (artifact !== undefined && why === undefined) return placeOf(artifact.digest);
  const { own } = sources;
  if (own === undefined || own.platform !== platform) throw notThere(host, arch, sources, why);
  const digest = await own.digest();
  const place = placeOf(digest);
  tell('sending bke to the host');
  await host.upload(own.open(), place, { digest, mode: 0o700, sizeBytes: own.size });
  return place;
}

function artifactOf({ catalogues, version }: BinarySources, platform: Platform): FileArtifact | undefined {
  const found = catalogues.map((catalogue) => findFile(catalogue, { name: 'bke', version, platform }));
  return found.find((artifact) => artifact !== undefined);
}

/** The same for the same content: what an attempt that was cut off left there is found by the next one. On no /tmp, which may forbid programs. */
function placeOf(digest: string): string {
  return `/var/lib/bke-brought-${digest.slice('sha256:'.length, 'sha256:'.length + 16)}`;
}

/** @returns why it did not come; undefined where it is there */
async function fetchFrom(
  host: HostShell,
  artifact: FileArtifact,
  { site }: BinarySources,
  { signal, tell }: Bringing,
): Promise<string | undefined> {
  const url = `https://${hostPort(site.hostIP, site.ports.files)}/${artifact.path}`;
  tell(`fetching bke from ${url}`);
  const argv = [
    '/bin/sh',
    '-c',
    fetchScript,
    'bke-fetch',
    placeOf(artifact.digest),
    url,
    artifact.digest.slice(7),
  ] as const;
  const { stdout, stderr, exitCode } = await host.run([...argv], { input: site.ca, timeoutMs: fetchMs, signal });
  const verdict = lastLine(stdout);
  if (verdict === 'done') return undefined;
  if (verdict === 'no-tool') return 'the host has neither curl nor wget';
  if (verdict.startsWith('digest ')) return `what came from ${url} is not what the catalogue says`;
  return `${url} could not be fetched: ${lastLine(stderr) || `exit code ${exitCode}`}`;
}

/**
 * Arguments: place, URL, SHA-256 in hex; the CA on stdin. Prints one word as its last line. Proxies are for the world outside of the site.
 * The draft is beside its place, so that it is on the same file system.
 */
const fetchScript = `
place=$1 url=$2 want=$3
umask 077
matches() { got=$(sha256sum <"$1") && [ "\${got%% *}" = "$want" ]; }
if [ -f "$place" ] && matches "$place"; then chmod 0700 "$place" && echo done; exit 0; fi
draft=$place.new ca=$place.ca
trap 'rm -f -- "$draft" "$ca"' 0; trap 'exit 1' 1 2 15
cat >"$ca" || exit 1
if command -v curl >/dev/null 2>&1; then
  curl -fsS --noproxy '*' --connect-timeout 15 --speed-limit 1024 --speed-time 60 --cacert "$ca" -o "$draft" -- "$url" || exit 1
elif wget --version 2>/dev/null | grep -q GNU; then
  wget -nv --no-proxy --tries=1 --timeout=60 --ca-certificate="$ca" -O "$draft" -- "$url" || exit 1
else echo no-tool; exit 0; fi
matches "$draft" || { echo "digest $got"; exit 0; }
chmod 0700 "$draft" && mv -f -- "$draft" "$place" && echo done
`;

function notThere(host: HostShell, arch: string, { version, own }: BinarySources, why: string | undefined): BkeError {
  const streamed =
    own === undefined
      ? 'this controller has no binary to send'
      : `this controller can send the one for ${own.platform} only`;
  const fetched = why ?? `the loaded release has none for linux/${arch}`;
  return new BkeError(
    'BKE_ARTIFACT_MISSING',
    `no bke ${version} for ${host.name} (${arch}): ${fetched}, and ${streamed}`,
    {
      host: host.name,
      hint: 'Load a bundle that has bke for that architecture: bke init --bundle FILE.',
    },
  );
}

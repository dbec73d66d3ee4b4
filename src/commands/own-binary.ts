// The bke that runs now, as a program to install: what commands that set a host up leave there to run as a service.
import type { Host } from '../host/host.ts';
import { isBuiltBinary } from '../lib/assets.ts';
import { BkeError } from '../lib/errors.ts';
import { bkeVersion } from '../lib/version.ts';
import type { ProgramArtifact } from '../tasks/node/programs.ts';

/** @param command for the message, e.g. 'bke init'. @throws BkeError BKE_BUILT_BINARY_NEEDED when run from source. */
export async function ownBinary(host: Host, command: string): Promise<ProgramArtifact> {
  if (!(await isBuiltBinary())) {
    throw new BkeError(
      'BKE_BUILT_BINARY_NEEDED',
      `${command} installs the running bke, and this one runs from source`,
      {
        hint: 'npm run build, then use dist/bke-linux-<arch>.',
      },
    );
  }
  const source = process.execPath;
  return { name: 'bke', version: await bkeVersion(), type: 'binary', source, digest: await host.files.digest(source) };
}

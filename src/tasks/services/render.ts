// The text of every unit and configuration file of the local services: pure, and kept as golden files by tests.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { hostPort } from '../../lib/address.ts';
import { readAsset } from '../../lib/assets.ts';
import { fillTemplate } from '../../lib/template.ts';
import { dataPaths, servicePaths } from './layout.ts';

export interface RegistryTexts {
  readonly registryConfig: string;
  readonly registryPushConfig: string;
  readonly registryUnit: string;
  readonly registryPushUnit: string;
}

export interface RegistrySource {
  /** Path of the registry binary. */
  readonly program: string;
  /** Signs the state of uploads. */
  readonly uploadSecret: string;
}

export async function renderRegistry(
  settings: BootstrapSettings,
  { program, uploadSecret }: RegistrySource,
): Promise<RegistryTexts> {
  const store = dataPaths(settings.dataDir).registry;
  const port = String(settings.ports.registry);
  const address = pushAddress(settings);
  const tls = { store, certificate: servicePaths.certificate, key: servicePaths.key };
  const unit = { program, store, sandbox: await asset('units/service-sandbox.conf') };
  return {
    registryConfig: fillTemplate(await asset('services/registry.yaml'), { ...tls, port }),
    registryPushConfig: fillTemplate(await asset('services/registry-push.yaml'), {
      ...tls,
      address,
      htpasswd: servicePaths.htpasswd,
      secret: uploadSecret,
    }),
    registryUnit: fillTemplate(await asset('units/bke-registry.service'), {
      ...unit,
      port,
      config: servicePaths.registryConfig,
    }),
    registryPushUnit: fillTemplate(await asset('units/bke-registry-push.service'), {
      ...unit,
      address,
      config: servicePaths.registryPushConfig,
    }),
  };
}

/** @param program path of the bke binary the service runs. */
export async function renderFilesUnit(settings: BootstrapSettings, program: string): Promise<string> {
  const { dataDir, ports } = settings;
  const command = [
    program,
    'serve',
    `--data-dir ${dataDir}`,
    `--file-port ${ports.files}`,
    `--chart-port ${ports.charts}`,
    `--tls-cert ${servicePaths.certificate}`,
    `--tls-key ${servicePaths.key}`,
  ].join(' ');
  return fillTemplate(await asset('units/bke-files.service'), {
    command,
    dataDir,
    filesPort: String(ports.files),
    chartsPort: String(ports.charts),
    sandbox: await asset('units/service-sandbox.conf'),
  });
}

/** Loopback unless pushes from other machines were asked for. */
function pushAddress({ pushOpen, ports }: BootstrapSettings): string {
  return hostPort(pushOpen ? '' : '127.0.0.1', ports.registryPush);
}

function asset(name: string): Promise<string> {
  return readAsset(`assets/${name}`);
}

// All commands. Declarations only: each loads what it runs when it runs.
import { bundleBuild } from '../commands/bundle/build.ts';
import { bundleInspect } from '../commands/bundle/inspect.ts';
import { bundleLoad } from '../commands/bundle/load.ts';
import { bundleVerify } from '../commands/bundle/verify.ts';
import { clusterCreate } from '../commands/cluster/create.ts';
import { clusterDescribe } from '../commands/cluster/describe.ts';
import { clusterKubeconfig } from '../commands/cluster/kubeconfig.ts';
import { clusterList } from '../commands/cluster/list.ts';
import { clusterLogs } from '../commands/cluster/logs.ts';
import { completionCommand } from '../commands/completion/completion.ts';
import { configInit } from '../commands/config/init.ts';
import { configPrint } from '../commands/config/print.ts';
import { configValidate } from '../commands/config/validate.ts';
import type { Command } from '../commands/context.ts';
import { explain } from '../commands/explain.ts';
import { helpCommand } from '../commands/help/help.ts';
import { hostCheck } from '../commands/host/check.ts';
import { hostExec } from '../commands/host/exec.ts';
import { hostList } from '../commands/host/list.ts';
import { init } from '../commands/init/init.ts';
import { operationAttach } from '../commands/operation/attach.ts';
import { operationCancel } from '../commands/operation/cancel.ts';
import { operationList } from '../commands/operation/list.ts';
import { operationShow } from '../commands/operation/show.ts';
import { reset } from '../commands/reset/reset.ts';
import { agentInstall, agentRun } from '../commands/roles/agent.ts';
import { controllerRun } from '../commands/roles/controller.ts';
import { serve } from '../commands/roles/serve.ts';
import { start, stop } from '../commands/start-stop.ts';
import { status } from '../commands/status.ts';
import { version } from '../commands/version.ts';

const everyCommand = (): readonly Command[] => commands;

export const commands: readonly Command[] = [
  init,
  reset,
  status,
  start,
  stop,
  operationList,
  operationShow,
  operationAttach,
  operationCancel,
  configInit,
  configValidate,
  configPrint,
  hostCheck,
  hostList,
  hostExec,
  clusterCreate,
  clusterList,
  clusterDescribe,
  clusterKubeconfig,
  clusterLogs,
  bundleBuild,
  bundleVerify,
  bundleInspect,
  bundleLoad,
  serve,
  controllerRun,
  agentRun,
  agentInstall,
  version,
  explain,
  completionCommand(everyCommand),
  helpCommand(everyCommand),
];

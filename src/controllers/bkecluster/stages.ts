// The stages of an installation: each begins when the one before has ended, and the times of both stand in the status. Pure.
import { formatDuration } from '../../lib/duration.ts';
import { timeText } from '../../lib/time-text.ts';

/** In their order. Hosts are prepared ahead of the stage that needs them. */
export const stageNames = ['infrastructure', 'control-plane', 'workers', 'network'] as const;
export type StageName = (typeof stageNames)[number];

export interface Stage {
  readonly name: string;
  readonly started: string;
  readonly ended?: string | undefined;
}

/** What has come to its end by now; a stage counts only where those before it have ended too. */
export type Ended = Readonly<Record<StageName, boolean>>;

/** @param before as the status has them: what has ended stays so */
export function stagesOf(before: readonly Stage[], ended: Ended, now: Date): Stage[] {
  const stages: Stage[] = [];
  for (const name of stageNames) {
    const old = before.find((stage) => stage.name === name);
    const started = old?.started ?? timeText(now);
    const end = old?.ended ?? (ended[name] ? timeText(now) : undefined);
    stages.push({ name, started, ...(end === undefined ? {} : { ended: end }) });
    if (end === undefined) break;
  }
  return stages;
}

/** What began or ended between the two, for people. */
export function stageNews(before: readonly Stage[], after: readonly Stage[]): string[] {
  return after.flatMap(({ name, started, ended }) => {
    const old = before.find((stage) => stage.name === name);
    const began = old === undefined ? [`stage ${name} begins`] : [];
    return ended !== undefined && old?.ended === undefined
      ? [...began, `stage ${name} has ended after ${between(started, ended)}`]
      : began;
  });
}

function between(started: string, ended: string): string {
  return formatDuration(Math.max(0, Date.parse(ended) - Date.parse(started)));
}
